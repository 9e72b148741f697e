/** One look at a chain: reads its head and commits what is new. Source: DESIGN section 2 flow 1, section 3 (a block counts as done). @module */
import { ChainError } from '../errors.js'
import type { EventSink } from '../events.js'
import { recordRange } from '../payments/record-range.js'
import type { BlockRange, Chain, ProofLevel } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import type { Clock, Logger } from '../ports/world.js'
import { plantAnchor } from './anchor.js'
import { type Plan, planRange } from './plan-range.js'
import { reorganise } from './reorganise.js'

/** How old the known head may become while many blocks are read, in milliseconds. */
const headAgeMs = 10_000

/** What following needs from outside. */
export interface FollowDeps {
  readonly store: Pick<Store, 'transaction' | 'payments'>
  readonly chain: Chain
  readonly clock: Clock
  readonly publish: EventSink
  readonly logger: Logger
  readonly startBlock: number | 'head'
  /** Blocks on top of a block until it is final; null: never. */
  readonly finalityBlocks: number | null
  /** Whether this process may commit. */
  readonly mayCommit: () => Promise<boolean>
  /** Called before blocks are read on top of a stored checkpoint. */
  readonly prepare: (checkpoint: Checkpoint) => Promise<void>
  /** Called when this process moved the checkpoint, up or down. */
  readonly moved: (checkpoint: Checkpoint, went: 'up' | 'down') => void
}

/** What was seen of a chain. */
export interface Seen {
  readonly head: number | null
  readonly headAt: number | null
  readonly indexed: number | null
  readonly proof: ProofLevel | null
  readonly reorganisations: number
}

/** Follows a chain, one look at a time. */
export interface Follow {
  /** Resolves true when everything up to the head it read is committed, or may not be committed by this process. */
  look(signal: AbortSignal | undefined): Promise<boolean>
  /** Reads how far the chain is indexed, without asking a node. */
  standBy(): Promise<void>
  seen(): Seen
}

/** Builds it. */
export function createFollow(deps: FollowDeps): Follow {
  const { store, chain, clock, publish, logger, startBlock, finalityBlocks, prepare, moved } = deps
  const { chainId } = chain
  let seen: Seen = { head: null, headAt: null, indexed: null, proof: null, reorganisations: 0 }
  let headReadAt = 0

  function see(news: Partial<Seen>): void {
    seen = { ...seen, ...news }
  }

  async function readHead(signal: AbortSignal | undefined) {
    const newest = await chain.head(signal)
    headReadAt = clock.now()
    see({ head: newest.number, headAt: newest.timestamp })
    return newest
  }

  async function look(signal: AbortSignal | undefined): Promise<boolean> {
    const newest = await readHead(signal)
    const checkpoint = await store.payments.checkpoint(chainId)
    see({ indexed: checkpoint?.blockNumber ?? null })
    if (checkpoint !== null) await prepare(checkpoint)
    const plan = planRange(newest, checkpoint, startBlock)
    if (plan.kind === 'wait') return true
    if (plan.kind === 'read') return read(plan, newest.number, checkpoint, signal)
    if (plan.kind === 'verify') return goBack(checkpoint, signal)
    if (!(await deps.mayCommit())) return true
    see({ indexed: (await plantAnchor({ chain, store }, plan.at, signal)).blockNumber })
    return false
  }

  /** Reads and commits blocks in order; ends before one that does not continue the one before. */
  async function read(
    { from, to }: Extract<Plan, { kind: 'read' }>,
    head: number,
    checkpoint: Checkpoint | null,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    let done = checkpoint
    let next = from
    let leftChain = false
    for await (const range of chain.ranges({ from, to, head }, signal)) {
      signal?.throwIfAborted()
      const { first, last } = range
      if (first.number !== next || last.number < next || last.number > to)
        throw wrongBlocks(chainId, next, to, `${first.number} to ${last.number}`)
      leftChain = done !== null && first.parentHash !== done.blockHash
      if (leftChain) break
      if (!(await deps.mayCommit())) return true
      done = await commit(done, range)
      next = last.number + 1
      if (next <= to && clock.now() - headReadAt >= headAgeMs) await readHead(signal)
    }
    if (leftChain) return goBack(done, signal)
    if (next <= to) throw wrongBlocks(chainId, next, to, 'none')
    return to >= (seen.head ?? to)
  }

  async function commit(expected: Checkpoint | null, range: BlockRange): Promise<Checkpoint> {
    const head = Math.max(seen.head ?? 0, range.last.number)
    const events = await recordRange(store, { chainId, expected, range, window: { head, finalityBlocks } })
    const checkpoint = { blockNumber: range.last.number, blockHash: range.last.hash }
    see({ indexed: checkpoint.blockNumber, proof: range.proof })
    moved(checkpoint, 'up')
    for (const event of events) publish(event)
    publish({ type: 'chain.indexed', chainId, blockNumber: checkpoint.blockNumber, head })
    return checkpoint
  }

  async function goBack(checkpoint: Checkpoint | null, signal: AbortSignal | undefined): Promise<boolean> {
    if (checkpoint === null || !(await deps.mayCommit())) return true
    const ancestor = await reorganise({ chain, store, finalityBlocks }, checkpoint, signal)
    const [from, commonAncestor] = [checkpoint.blockNumber, ancestor.blockNumber]
    see({ indexed: commonAncestor, reorganisations: seen.reorganisations + 1 })
    moved(ancestor, 'down')
    logger.warn({ chainId, from, commonAncestor }, 'chain reorganised')
    publish({ type: 'chain.reorganised', chainId, from, commonAncestor })
    return false
  }

  return {
    look,
    async standBy() {
      // Nobody asks a node meanwhile: what it told before grows old.
      see({ head: null, headAt: null, indexed: (await store.payments.checkpoint(chainId))?.blockNumber ?? null })
    },
    seen: () => seen,
  }
}

function wrongBlocks(chainId: number, from: number, to: number, came: string): ChainError {
  return new ChainError(
    'ERR_CHAIN_UNAVAILABLE',
    chainId,
    `Blocks ${from} to ${to} of chain ${chainId} were asked for, ${came} came.`,
  )
}
