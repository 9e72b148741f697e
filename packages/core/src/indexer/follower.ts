/** Reads the head of a chain and commits the new blocks. Source: docs/decisions/following-a-chain.md. @module */
import { ChainError } from '../errors.js'
import type { EventSink } from '../events.js'
import { recordRange, toCheckpoint } from '../payments/record-range.js'
import type { Recording } from '../payments/recording.js'
import type { BlockRange, BlockRef, Chain, ProofLevel } from '../ports/chain.js'
import { type Clock, createMonotonicClock, type Logger } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from './chain-store.js'
import { reorganize, storeStart } from './reorganize.js'

/** The next step of an indexer. */
type Plan =
  /** Nothing new: the head is not above the checkpoint, or the first block is not mined yet. */
  | { readonly kind: 'wait' }
  /** The head has the height of the checkpoint and another hash: check whether the checkpoint is orphaned. */
  | { readonly kind: 'verify' }
  /** Nothing is stored yet: store this first block as the start. */
  | { readonly kind: 'start'; readonly at: number }
  /** Read these blocks, both ends included. */
  | { readonly kind: 'read'; readonly from: number; readonly to: number }

/**
 * A head below the checkpoint comes from a lagging node, not from a reorg: wait. The genesis block is read alone, so
 * that a rollback always finds a block. `start`: the first block while nothing is stored; `head`: the head itself.
 */
export function planRange(head: BlockRef, checkpoint: Checkpoint | null, start: number | 'head'): Plan {
  if (checkpoint === null) {
    const at = start === 'head' ? head.number : start
    if (at > head.number) return { kind: 'wait' }
    return at === 0 ? { kind: 'read', from: 0, to: 0 } : { kind: 'start', at }
  }
  const { blockNumber, blockHash } = checkpoint
  if (head.number === blockNumber) return { kind: head.hash === blockHash ? 'wait' : 'verify' }
  if (head.number < blockNumber) return { kind: 'wait' }
  return { kind: 'read', from: blockNumber + 1, to: head.number }
}

/** Announced blocks make polls this many times rarer: a poll then only notices that announcements stopped. */
const announcedFactor = 10

/** The longest wait until the head is read again, in milliseconds. */
export function getHeadPollMs(chain: Pick<Chain, 'announcesBlocks'>, pollMs: number): number {
  return chain.announcesBlocks?.() ? pollMs * announcedFactor : pollMs
}

/** Age at which the head is read again during a catch-up, in milliseconds. */
const maxHeadAgeMs = 10_000
const maxRememberedReorgs = 20

export interface FollowerDeps {
  readonly store: Pick<Store, 'transaction' | 'payments'>
  readonly chain: Chain
  readonly clock: Clock
  readonly publish: EventSink
  readonly logger: Logger
  readonly startBlock: number | 'head'
  readonly finalityBlocks: number | null
  readonly recording: Recording
  readonly mayCommit: () => Promise<boolean>
  /** Called before blocks are read on top of a stored checkpoint. */
  readonly beforeRead: (checkpoint: Checkpoint) => Promise<void>
  /** Called after this process moved the checkpoint. */
  readonly onMoved: (checkpoint: Checkpoint, direction: 'up' | 'down') => void
}

export interface ChainState {
  /** Newest known height, or null before the first answer. */
  readonly head: number | null
  /** Header time of that block in unix milliseconds: it grows old when the nodes stall. Null before any answer. */
  readonly headAt: number | null
  /** Highest indexed height, or null. */
  readonly indexed: number | null
  /** How the newest blocks were proven, or null before the first commit of this process. */
  readonly proof: ProofLevel | null
  /** Reorgs followed since the start of this process. */
  readonly reorgs: number
  /**
   * The newest 20 reorgs that this process followed, newest first. `at`: when, in unix milliseconds. `from`: the
   * highest block indexed until then; the blocks above `commonAncestor` were orphaned.
   */
  readonly newestReorgs: readonly { readonly at: number; readonly from: number; readonly commonAncestor: number }[]
}

/** Creates the follower of one chain; it holds no lease. */
export function createFollower(deps: FollowerDeps) {
  const { store, chain, clock, publish, logger, startBlock, finalityBlocks, recording, beforeRead, onMoved } = deps
  const monotonicClock = createMonotonicClock(clock)
  const { chainId } = chain
  let state: ChainState = { head: null, headAt: null, indexed: null, proof: null, reorgs: 0, newestReorgs: [] }
  let headReadAt = 0

  function update(change: Partial<ChainState>): void {
    state = { ...state, ...change }
  }

  async function readHead(signal: AbortSignal | undefined) {
    const newest = await chain.head(signal)
    headReadAt = monotonicClock.now()
    update({ head: newest.number, headAt: newest.timestamp })
    return newest
  }

  /** Resolves true when every block up to the head is committed, or when this process may not commit. */
  async function step(signal: AbortSignal | undefined): Promise<boolean> {
    const newest = await readHead(signal)
    const checkpoint = await store.payments.checkpoint(chainId)
    update({ indexed: checkpoint?.blockNumber ?? null })
    if (checkpoint !== null) await beforeRead(checkpoint)
    const plan = planRange(newest, checkpoint, startBlock)
    if (plan.kind === 'wait') return true
    if (plan.kind === 'read') return read(plan, newest.number, checkpoint, signal)
    if (plan.kind === 'verify') return rollBackFrom(checkpoint, signal)
    if (!(await deps.mayCommit())) return true
    update({ indexed: (await storeStart({ chain, store }, plan.at, signal)).blockNumber })
    return false
  }

  /** Reads and commits blocks in order; stops at a range that does not continue the checkpoint. */
  async function read(
    { from, to }: Extract<Plan, { kind: 'read' }>,
    head: number,
    checkpoint: Checkpoint | null,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    let committed = checkpoint
    let next = from
    let isOrphaned = false
    for await (const range of chain.ranges({ from, to, head }, signal)) {
      signal?.throwIfAborted()
      const { first, last } = range
      if (first.number !== next || last.number < next || last.number > to)
        throw createUnexpectedBlocksError(chainId, next, to, `${first.number} to ${last.number}`)
      isOrphaned = committed !== null && first.parentHash !== committed.blockHash
      if (isOrphaned) break
      if (!(await deps.mayCommit())) return true
      committed = await commit(committed, range)
      next = last.number + 1
      if (next <= to && monotonicClock.now() - headReadAt >= maxHeadAgeMs) await readHead(signal)
    }
    if (isOrphaned) return rollBackFrom(committed, signal)
    if (next <= to) throw createUnexpectedBlocksError(chainId, next, to, 'none')
    return to >= (state.head ?? to)
  }

  async function commit(expected: Checkpoint | null, range: BlockRange): Promise<Checkpoint> {
    const head = Math.max(state.head ?? 0, range.last.number)
    const events = await recordRange(store, { chainId, expected, range, head, finalityBlocks, recording })
    const checkpoint = toCheckpoint(range.last)
    update({ indexed: range.last.number, proof: range.proof })
    onMoved(checkpoint, 'up')
    events.forEach(publish)
    publish({ type: 'chain.indexed', chainId, blockNumber: range.last.number, head })
    return checkpoint
  }

  async function rollBackFrom(checkpoint: Checkpoint | null, signal: AbortSignal | undefined): Promise<boolean> {
    if (checkpoint === null || !(await deps.mayCommit())) return true
    const ancestor = await reorganize({ chain, store, finalityBlocks }, checkpoint, signal)
    const reorg = { from: checkpoint.blockNumber, commonAncestor: ancestor.blockNumber }
    const newestReorgs = [{ at: clock.now(), ...reorg }, ...state.newestReorgs].slice(0, maxRememberedReorgs)
    update({ indexed: ancestor.blockNumber, reorgs: state.reorgs + 1, newestReorgs })
    onMoved(ancestor, 'down')
    logger.warn({ chainId, ...reorg }, 'chain reorganized')
    publish({ type: 'chain.reorganized', chainId, ...reorg })
    return false
  }

  return {
    step,
    /** Reads the checkpoint. A process that stands by calls no node, so its last known head is outdated. */
    async standBy(): Promise<void> {
      update({ head: null, headAt: null, indexed: (await store.payments.checkpoint(chainId))?.blockNumber ?? null })
    },
    state: (): ChainState => state,
  }
}

export function createUnexpectedBlocksError(chainId: number, from: number, to: number, received: string): ChainError {
  return new ChainError(
    'ERR_CHAIN_UNAVAILABLE',
    chainId,
    `Blocks ${from} to ${to} of chain ${chainId} were requested, ${received} came.`,
  )
}
