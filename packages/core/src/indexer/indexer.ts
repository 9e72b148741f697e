/** Follows one chain from a checkpoint to its head. Source: DESIGN section 2 flow 1, section 3 (reorganisation, a block counts as done). @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { EventSink } from '../events.js'
import { assertWhole } from '../internal/assert-whole.js'
import { backoffCapMs, backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import { recordRange } from '../payments/record-range.js'
import type { BlockRange, Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import type { Indexer } from '../service-types.js'
import { plantAnchor } from './anchor.js'
import { BrokenHistoryError } from './broken-history-error.js'
import { planRange } from './plan-range.js'
import { createRangeSize } from './range-size.js'
import { reorganise } from './reorganise.js'

/** How an indexer follows its chain. */
export interface IndexerOptions {
  /** First block to index while nothing is stored; `head` is the head at that moment. Once stored, the start stays. */
  readonly startBlock: number | 'head'
  /** Wait between two looks at the head, in milliseconds, once it was reached. @default 1000 */
  readonly pollMs?: number | undefined
  /** Most blocks read and committed at a time; failures make it smaller for a while. @default 500 */
  readonly maxRange?: number | undefined
}

/** The defaults of {@link IndexerOptions}. */
export const indexerDefaults = { pollMs: 1_000, maxRange: 500 } as const

/** What an indexer needs from outside. */
export interface IndexerDeps {
  readonly store: Pick<Store, 'transaction' | 'payments'>
  readonly chain: Chain
  readonly clock: Clock
  readonly random: Pick<Random, 'fraction'>
  /** Must not throw. */
  readonly publish: EventSink
  readonly logger: Logger
  readonly options: IndexerOptions
}

/** How often a round starts over at once when the chain or another indexer moved under it. */
const immediateRetries = 3
/** Failures in a row before `chain.failed` is published: a single one is everyday life of an endpoint. */
const failuresToReport = 3

/**
 * Builds an indexer.
 *
 * Guarantees: blocks are committed in order and none is skipped; a block is committed only on top of the block that its
 * parent hash names; a lower head, a missing block or a contradiction changes nothing. Ranges that fail repeatedly get
 * smaller, down to one block.
 *
 * `step` rejects with ChainError, StoreError, CheckpointMovedError or {@link BrokenHistoryError}, having committed either
 * the whole round or nothing. `run` never rejects: it backs off up to 30 s and goes on, and publishes `chain.failed` once
 * per outage (after three failures in a row, or at once when the history is broken). Where another indexer commits the same
 * chain, it stands by and looks every `pollMs`.
 * @throws RangeError When an option is out of range.
 */
export function createIndexer(deps: IndexerDeps): Indexer {
  const { store, chain, clock, random, publish, logger } = deps
  const { chainId } = chain
  const { startBlock, pollMs = indexerDefaults.pollMs, maxRange = indexerDefaults.maxRange } = deps.options
  if (startBlock !== 'head') assertWhole('startBlock', startBlock, 0)
  assertWhole('pollMs', pollMs, 1)
  assertWhole('maxRange', maxRange, 1)
  const rangeSize = createRangeSize(maxRange)
  let head: number | null = null
  let indexed: number | null = null
  let error: string | null = null

  async function round(signal: AbortSignal | undefined): Promise<boolean> {
    const newest = await chain.head(signal)
    head = newest.number
    const checkpoint = await store.payments.checkpoint(chainId)
    indexed = checkpoint?.blockNumber ?? null
    const plan = planRange(newest, checkpoint, startBlock, rangeSize.current())
    if (plan.kind === 'wait') return true
    if (plan.kind === 'start') {
      indexed = (await plantAnchor({ chain, store }, plan.at, signal)).blockNumber
      return false
    }
    if (plan.kind === 'read') {
      const range = await readRange(plan.from, plan.to, signal)
      if (checkpoint === null || range.first.parentHash === checkpoint.blockHash) {
        signal?.throwIfAborted()
        await commit(checkpoint, range, newest.number)
        return plan.to === newest.number
      }
    }
    if (checkpoint !== null) await goBack(checkpoint, signal)
    return false
  }

  async function readRange(from: number, to: number, signal: AbortSignal | undefined): Promise<BlockRange> {
    const blocks = to - from + 1
    try {
      const range = await chain.range(from, to, signal)
      if (range.first.number !== from || range.last.number !== to)
        throw new ChainError(
          'ERR_CHAIN_UNAVAILABLE',
          chainId,
          `Blocks ${from} to ${to} of chain ${chainId} were asked for, ${range.first.number} to ${range.last.number} came.`,
        )
      rangeSize.succeeded(blocks)
      return range
    } catch (thrown) {
      if (!isRangeGone(thrown) && !signal?.aborted) rangeSize.failed(blocks)
      throw thrown
    }
  }

  async function commit(expected: Checkpoint | null, range: BlockRange, headNumber: number): Promise<void> {
    const events = await recordRange(store, { chainId, expected, range })
    indexed = range.last.number
    for (const event of events) publish(event)
    publish({ type: 'chain.indexed', chainId, blockNumber: indexed, head: headNumber })
  }

  async function goBack(checkpoint: Checkpoint, signal: AbortSignal | undefined): Promise<void> {
    const ancestor = await reorganise({ chain, store }, checkpoint, signal)
    indexed = ancestor.blockNumber
    const [from, commonAncestor] = [checkpoint.blockNumber, ancestor.blockNumber]
    logger.warn({ chainId, from, commonAncestor }, 'chain reorganised')
    publish({ type: 'chain.reorganised', chainId, from, commonAncestor })
  }

  async function step(signal?: AbortSignal): Promise<boolean> {
    for (let retries = 0; ; retries += 1) {
      try {
        const atHead = await round(signal)
        error = null
        return atHead
      } catch (thrown) {
        if (signal?.aborted) throw thrown
        // That another indexer was faster is no fault of this chain.
        if (!(thrown instanceof CheckpointMovedError)) error = describeError(thrown)
        else if (retries < immediateRetries) continue
        if (!isRangeGone(thrown) || retries === immediateRetries) throw thrown
      }
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    let reported = false
    while (!signal.aborted) {
      try {
        const atHead = await step(signal)
        failures = 0
        reported = false
        if (atHead) await clock.sleep(pollMs, signal)
      } catch (thrown) {
        if (signal.aborted) return
        if (thrown instanceof CheckpointMovedError) {
          logger.info({ chainId }, 'another indexer follows this chain')
          await clock.sleep(pollMs, signal)
          continue
        }
        failures += 1
        const broken = thrown instanceof BrokenHistoryError
        const message = describeError(thrown)
        const retryInMs = broken ? backoffCapMs : backoffMs(failures, random.fraction())
        logger[broken ? 'error' : 'warn']({ chainId, error: message, failures, retryInMs }, 'chain not indexed')
        if (!reported && (broken || failures >= failuresToReport)) {
          reported = true
          publish({ type: 'chain.failed', chainId, message })
        }
        await clock.sleep(retryInMs, signal)
      }
    }
  }

  return { chainId, step, run, status: () => ({ chainId, head, indexed, error }) }
}

function isRangeGone(error: unknown): boolean {
  return error instanceof ChainError && error.code === 'ERR_CHAIN_RANGE_GONE'
}
