/** Reads indexed blocks again for an added router. Source: docs/decisions/following-a-chain.md. @module */
import { computeBackoffMs, describeError } from '../internal/values.js'
import { lockChainAt, recordBackfill } from '../payments/record-range.js'
import type { BlockRange, Chain } from '../ports/chain.js'
import { createMonotonicClock, type RandomSource } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint, RouterCoverage } from './chain-store.js'
import { createUnexpectedBlocksError, type FollowerDeps } from './follower.js'

/** Stands for the routers of a chain that is indexed without any: a router added later is known to be new. */
export const noRouterAddress = `0x${'0'.repeat(40)}`

/** Blocks to read for one router, both ends included. */
interface Gap {
  readonly router: string
  /** First block that is covered once the gap is closed. */
  readonly coveredFrom: number
  readonly from: number
  readonly to: number
}

export interface CoverageFacts {
  /** The routers that are read from now on, lowercased. */
  readonly routers: readonly string[]
  /** Height of the stored checkpoint. */
  readonly indexedTo: number
  /** First indexed block of the chain, for a chain without stored coverage. */
  readonly start: number
  /** The last block that this process read for its routers; another process indexed the blocks above. */
  readonly coveredTo: number
}

/**
 * Decides which coverage to store and which gaps to close. The coverage of a removed router ends; its payments stay.
 * Coverage ends at the checkpoint, which a reorg may have moved down. An added router's gap begins at the first block.
 */
export function decideCoverage(
  rows: readonly RouterCoverage[],
  { routers, indexedTo, start, coveredTo }: CoverageFacts,
): { readonly changes: RouterCoverage[]; readonly gaps: Gap[] } {
  if (rows.length === 0) {
    const first = routers.length === 0 ? [noRouterAddress] : routers
    return { changes: first.map((router) => ({ router, from: start, to: null })), gaps: [] }
  }
  const stored = new Map(rows.map((row) => [row.router, row]))
  const chainFrom = Math.min(...rows.map(({ from }) => from))
  const listed = new Set(routers)
  const changes: RouterCoverage[] = []
  const gaps: Gap[] = []
  for (const router of new Set([...stored.keys(), ...listed])) {
    const row = stored.get(router) ?? { router, from: chainFrom, to: chainFrom - 1 }
    const to = Math.min(row.to ?? coveredTo, indexedTo)
    const isListed = listed.has(router)
    const from = Math.max(row.from, to + 1)
    if (isListed && from <= indexedTo) gaps.push({ router, coveredFrom: row.from, from, to: indexedTo })
    const newTo = isListed && from > indexedTo ? null : to
    const isChanged = stored.has(router) ? newTo !== row.to : newTo === null
    if (isChanged) changes.push({ router, from: row.from, to: newTo })
  }
  return { changes, gaps }
}

/**
 * Updates the stored coverage for the routers that are read from now on. Resolves the gaps. `lastChecked`: the last
 * checkpoint of this process, if another process moved the stored one since; null: stored coverage is valid.
 */
export async function reconcileCoverage(
  store: Pick<Store, 'transaction' | 'chains'>,
  input: Pick<Chain, 'chainId' | 'routers'> &
    Pick<FollowerDeps, 'startBlock'> & { readonly checkpoint: Checkpoint; readonly lastChecked: Checkpoint | null },
): Promise<Gap[]> {
  const { chainId, routers, checkpoint, startBlock, lastChecked } = input
  const indexedTo = checkpoint.blockNumber
  const { changes, gaps } = decideCoverage(await store.chains.coverage(chainId), {
    routers,
    indexedTo,
    start: startBlock === 'head' ? indexedTo + 1 : Math.min(startBlock, indexedTo + 1),
    coveredTo: lastChecked?.blockNumber ?? indexedTo,
  })
  if (changes.length === 0) return gaps
  await store.transaction(async (tx) => {
    await lockChainAt(tx, chainId, checkpoint)
    for (const change of changes) await tx.setCoverage(chainId, change)
  })
  return gaps
}

interface BackfillDeps extends Omit<FollowerDeps, 'store' | 'finalityBlocks' | 'beforeRead' | 'onMoved'> {
  readonly store: Pick<Store, 'transaction' | 'chains'>
  readonly random: Pick<RandomSource, 'fraction'>
  /** Called when a range was read: wakes the loop that calls `advance`. */
  readonly onRead: () => void
  readonly onFailed: (error: unknown) => void
}

interface Reader {
  readonly iterator: AsyncIterator<BlockRange>
  readonly stop: AbortController
  /** The result of `next`; null while it is pending. */
  outcome: PromiseSettledResult<IteratorResult<BlockRange>> | null
}

interface Failures {
  /** In a row, since the last commit. */
  readonly count: number
  /** When to read again, on the monotonic clock. */
  readonly retryAt: number
  /** The last error; null without failures. */
  readonly message: string | null
}
const noFailures: Failures = { count: 0, retryAt: Number.NEGATIVE_INFINITY, message: null }

/** Closes gaps one after the other, while the indexer follows the head. */
export function createBackfill(deps: BackfillDeps) {
  const { store, chain, random, publish, logger, startBlock, recording, onRead } = deps
  const { chainId, routers } = chain
  const monotonicClock = createMonotonicClock(deps.clock)
  /** The checkpoint of this process for which the gaps are known; null: the stored coverage must be checked. */
  let lastChecked: Checkpoint | null = null
  let gaps: Gap[] = []
  let reader: Reader | null = null
  let failures = noFailures

  function close(): void {
    reader?.stop.abort()
    reader?.iterator.return?.().catch(() => undefined)
    reader = null
  }

  async function readNext(current: Reader): Promise<void> {
    current.outcome = null
    const [outcome] = await Promise.allSettled([current.iterator.next()])
    current.outcome = outcome
    if (current === reader) onRead()
  }

  /** Commits a range of the first gap. Resolves whether the gap is closed. */
  async function commit(gap: Gap, range: BlockRange | null): Promise<boolean> {
    const { router, coveredFrom, from, to } = gap
    if (range?.first.number !== from || range.last.number < from || range.last.number > to) {
      const received = range === null ? 'none' : `${range.first.number} to ${range.last.number}`
      throw createUnexpectedBlocksError(chainId, from, to, received)
    }
    const reached = range.last.number
    const isClosed = reached === to
    const coverage = { router, from: coveredFrom, to: isClosed ? null : reached }
    const events = await recordBackfill(store, { chainId, range, coverage, expected: lastChecked, recording })
    events.forEach(publish)
    publish({ type: 'chain.backfilled', chainId, router, blockNumber: reached, to })
    gaps.splice(0, 1, ...(isClosed ? [] : [{ ...gap, from: reached + 1 }]))
    return isClosed
  }

  function scheduleRetry(thrown: unknown): void {
    close()
    // A router that fails lets the others go first.
    const [failed, ...otherGaps] = gaps
    if (failed !== undefined) gaps = [...otherGaps, failed]
    const count = failures.count + 1
    const retryInMs = computeBackoffMs(count, random.fraction())
    const error = describeError(thrown)
    failures = { count, retryAt: monotonicClock.now() + retryInMs, message: error }
    deps.onFailed(thrown)
    logger.warn({ chainId, error, failures: count, retryInMs }, 'backfill of an added router failed')
  }

  /** Forgets the gaps and the range that was read: another process may have indexed, or blocks may be orphaned. */
  function reset(): void {
    close()
    lastChecked = null
    gaps = []
    failures = noFailures
  }

  return {
    reset,
    /** Checks the stored coverage, unless this process did so at this checkpoint. Reads new gaps from their start. */
    async prepare(checkpoint: Checkpoint): Promise<void> {
      if (lastChecked?.blockNumber === checkpoint.blockNumber && lastChecked.blockHash === checkpoint.blockHash) return
      const newGaps = await reconcileCoverage(store, { chainId, routers, checkpoint, startBlock, lastChecked })
      reset()
      lastChecked = checkpoint
      gaps = newGaps
    },
    /** Notes that this process moved the checkpoint up: it read the new blocks for all routers. */
    follow(checkpoint: Checkpoint): void {
      if (lastChecked !== null) lastChecked = checkpoint
    },
    /**
     * Commits the range that was read and starts to read the next one, without waiting for the node: old blocks never
     * delay new ones. Failures go to `onFailed` and are retried with a backoff. Resolves whether a range was committed.
     */
    async advance(head: number, signal: AbortSignal | undefined): Promise<boolean> {
      const [gap] = gaps
      if (gap === undefined || monotonicClock.now() < failures.retryAt) return false
      if (reader === null) {
        const stop = new AbortController()
        const request = { from: gap.from, to: gap.to, head: Math.max(head, gap.to), routers: [gap.router] }
        reader = { iterator: chain.ranges(request, stop.signal)[Symbol.asyncIterator](), stop, outcome: null }
        void readNext(reader)
      }
      const current = reader
      const { outcome } = current
      if (outcome === null) return false
      try {
        if (outcome.status === 'rejected') throw outcome.reason
        signal?.throwIfAborted()
        // A lease that was lost and is regained resets the gaps.
        if (!(await deps.mayCommit()) || current !== reader) return false
        const { done, value } = outcome.value
        const isClosed = await commit(gap, done === true ? null : value)
        failures = noFailures
        if (isClosed) close()
        else void readNext(current)
        return true
      } catch (thrown) {
        if (signal?.aborted) throw thrown
        scheduleRetry(thrown)
        return false
      }
    },
    /** The last failure, or null after a later commit. */
    error: () => failures.message,
    close,
  }
}
