/** Reads indexed blocks again for an added router. Source: docs/decisions/following-a-chain.md. @module */
import { ChainError } from '../errors.js'
import type { EventSink } from '../events.js'
import { backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import { recordBackfill } from '../payments/record-backfill.js'
import type { Recording } from '../payments/recording.js'
import type { BlockRange, Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import type { Gap } from './coverage.js'

/** Dependencies of a backfill. */
export interface BackfillDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly chain: Chain
  readonly clock: Clock
  readonly random: Pick<Random, 'fraction'>
  readonly publish: EventSink
  readonly logger: Logger
  readonly recording: Recording
  /** Called when a range was read: wakes the loop that calls {@link Backfill.advance}. */
  readonly onRead: () => void
  /** Whether this process may commit. */
  readonly mayCommit: () => Promise<boolean>
  readonly onFailed: (error: unknown) => void
}

/** Closes gaps one after the other, while the indexer follows the head. */
export interface Backfill {
  /** Stops reading and starts again with these gaps: the ranges in flight may be orphaned. */
  replace(gaps: readonly Gap[]): void
  /**
   * Commits the range that was read, if there is one, and starts reading the next one. Never waits for the node, so
   * that old blocks do not delay new ones. Failures are passed to `onFailed` and retried with a backoff.
   * @param head - Height of the newest block.
   * @returns Whether a range was committed.
   */
  advance(head: number, signal: AbortSignal | undefined): Promise<boolean>
  /** The last failure, or null after a later commit. */
  error(): string | null
  /** Stops reading. */
  close(): void
}

type Outcome = { readonly range: BlockRange | null } | { readonly thrown: unknown }

/** The reading of one gap. */
interface Reader {
  readonly iterator: AsyncIterator<BlockRange>
  readonly stop: AbortController
  /** The result of `next`, once it has one. */
  outcome: Outcome | null
}

/** Builds a backfill without gaps. */
export function createBackfill(deps: BackfillDeps): Backfill {
  const { store, chain, clock, random, publish, logger, recording, onRead } = deps
  const { chainId } = chain
  let gaps: Gap[] = []
  let reader: Reader | null = null
  let failures = 0
  let retryAt = Number.NEGATIVE_INFINITY
  let error: string | null = null

  function close(): void {
    reader?.stop.abort()
    reader?.iterator.return?.().catch(() => undefined)
    reader = null
  }

  function open({ router, from, to }: Gap, head: number): Reader {
    const stop = new AbortController()
    const request = { from, to, head: Math.max(head, to), routers: [router] }
    return { iterator: chain.ranges(request, stop.signal)[Symbol.asyncIterator](), stop, outcome: null }
  }

  function readNext(current: Reader): void {
    const settle = (outcome: Outcome) => {
      current.outcome = outcome
      if (current === reader) onRead()
    }
    current.outcome = null
    current.iterator.next().then(
      ({ done, value }) => settle({ range: done === true ? null : value }),
      (thrown: unknown) => settle({ thrown }),
    )
  }

  /** Commits a range of the gap. Resolves the rest of the gap, or null when it is closed. */
  async function commit(gap: Gap, range: BlockRange | null): Promise<Gap | null> {
    if (range?.first.number !== gap.from || range.last.number < gap.from || range.last.number > gap.to)
      throw new ChainError(
        'ERR_CHAIN_UNAVAILABLE',
        chainId,
        `Blocks ${gap.from} to ${gap.to} of chain ${chainId} were requested for an added router, others came.`,
      )
    const { router, coveredFrom, to } = gap
    const reached = range.last.number
    const coverage = { router, from: coveredFrom, to: reached === to ? null : reached }
    for (const event of await recordBackfill(store, { chainId, range, coverage, recording })) publish(event)
    publish({ type: 'chain.backfilled', chainId, router, blockNumber: reached, to })
    return reached === to ? null : { ...gap, from: reached + 1 }
  }

  function fail(thrown: unknown): void {
    close()
    // The gaps of other routers come first now.
    const [failed, ...others] = gaps
    if (failed !== undefined) gaps = [...others, failed]
    failures += 1
    const retryInMs = backoffMs(failures, random.fraction())
    retryAt = clock.now() + retryInMs
    error = describeError(thrown)
    deps.onFailed(thrown)
    logger.warn({ chainId, error, failures, retryInMs }, 'backfill of an added router failed')
  }

  return {
    replace(newGaps) {
      close()
      gaps = [...newGaps]
      failures = 0
      retryAt = Number.NEGATIVE_INFINITY
      error = null
    },
    async advance(head, signal) {
      const [gap] = gaps
      if (gap === undefined || clock.now() < retryAt) return false
      if (reader === null) {
        reader = open(gap, head)
        readNext(reader)
        return false
      }
      const current = reader
      const { outcome } = current
      if (outcome === null) return false
      try {
        if ('thrown' in outcome) throw outcome.thrown
        signal?.throwIfAborted()
        if (!(await deps.mayCommit())) return false
        const rest = await commit(gap, outcome.range)
        failures = 0
        error = null
        gaps.splice(0, 1, ...(rest === null ? [] : [rest]))
        if (rest === null) close()
        else readNext(current)
        return true
      } catch (thrown) {
        if (signal?.aborted) throw thrown
        fail(thrown)
        return false
      }
    },
    error: () => error,
    close,
  }
}
