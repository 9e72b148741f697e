/** Follows one chain from a checkpoint to its head. Source: DESIGN section 2 flow 1, section 3 (reorganisation, a block counts as done). @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { EventSink } from '../events.js'
import { assertWhole } from '../internal/assert-whole.js'
import { backoffCapMs, backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import type { Indexer } from '../service-types.js'
import { createBackfill } from './backfill.js'
import { BrokenHistoryError } from './broken-history-error.js'
import { reconcileCoverage } from './coverage.js'
import { DeepReorganisationError } from './deep-reorganisation-error.js'
import { createFollow } from './follow.js'
import { createLease } from './lease.js'
import { createWake } from './wake.js'

/** How an indexer follows its chain. */
export interface IndexerOptions {
  /** First block to index while nothing is stored; `head` is the head at that moment. Once stored, the start stays. */
  readonly startBlock: number | 'head'
  /** Blocks on top of a block until it is final: no reorganisation is followed deeper. Null: never final. */
  readonly finalityBlocks: number | null
  /** Longest wait between two looks at the head, in milliseconds, once it was reached. @default 1000 */
  readonly pollMs?: number | undefined
  /** How long the chain is kept from other processes after a sign of life of this one, in milliseconds, 100 or more. @default 15000 */
  readonly leaseMs?: number | undefined
}

/** The defaults of {@link IndexerOptions}. */
export const indexerDefaults = { pollMs: 1_000, leaseMs: 15_000 } as const

/** What an indexer needs from outside. */
export interface IndexerDeps {
  readonly store: Pick<Store, 'transaction' | 'payments' | 'chains' | 'leases'>
  readonly chain: Chain
  readonly clock: Clock
  /** Its bytes name this indexer among all that want the chain. */
  readonly random: Pick<Random, 'fraction' | 'bytes'>
  /** Must not throw. */
  readonly publish: EventSink
  readonly logger: Logger
  readonly options: IndexerOptions
}

/** How often a round starts over at once when the chain or another indexer moved under it, and nothing was committed. */
const immediateRetries = 3
/** Failures in a row before `chain.failed` is published: a single one is everyday life of an endpoint. */
const failuresToReport = 3
/** Shortest lease, in milliseconds. */
const leastLeaseMs = 100
/** Length of a holder's name, in bytes. */
const holderBytes = 16

/**
 * Builds an indexer.
 *
 * Guarantees: blocks are committed in order and none is skipped; a block is committed only on top of the block that its
 * parent hash names; a lower head, a missing block or a contradiction changes nothing. Of all indexers of a chain, the one with its
 * lease reads and commits; the others stand by and ask again every `pollMs`. A router that the chain did not have before is
 * read for the blocks that are indexed already, beside following the head.
 *
 * `step` rejects with ChainError, StoreError, CheckpointMovedError, {@link BrokenHistoryError} or {@link DeepReorganisationError};
 * what was committed until then stays. `run` never rejects: it backs off up to 30 s and goes on, and publishes `chain.failed` once
 * per outage after three failures in a row, and once and at once when the chain cannot go on by itself. It gives the lease up at its end.
 * @throws RangeError When an option is out of range.
 */
export function createIndexer(deps: IndexerDeps): Indexer {
  const { store, chain, clock, random, publish, logger } = deps
  const { chainId, routers } = chain
  const {
    startBlock,
    finalityBlocks,
    pollMs = indexerDefaults.pollMs,
    leaseMs = indexerDefaults.leaseMs,
  } = deps.options
  if (startBlock !== 'head') assertWhole('startBlock', startBlock, 0)
  if (finalityBlocks !== null) assertWhole('finalityBlocks', finalityBlocks, 0)
  assertWhole('pollMs', pollMs, 1)
  assertWhole('leaseMs', leaseMs, leastLeaseMs)

  /** The last checkpoint that this process left while it leads; null: what is noted of the routers was not looked at yet. */
  let ours: Checkpoint | null = null
  let commits = 0
  let error: string | null = null
  let lastError: { readonly message: string; readonly at: number } | null = null

  const holder = Buffer.from(random.bytes(holderBytes)).toString('hex')
  const lease = createLease({ leases: store.leases, clock, name: `indexer:${chainId}`, holder, ttlMs: leaseMs })
  const wake = createWake(clock)
  const shared = { store, chain, clock, publish, logger, mayCommit }
  const backfill = createBackfill({ ...shared, random, ready: wake.wake, failed: note })
  const follow = createFollow({ ...shared, startBlock, finalityBlocks, prepare, moved })

  function note(thrown: unknown): string {
    const message = describeError(thrown)
    lastError = { message, at: clock.now() }
    return message
  }

  async function mayCommit(): Promise<boolean> {
    const before = lease.held()
    const mine = await lease.ensure()
    if (mine !== before)
      logger.info({ chainId, leading: mine }, mine ? 'indexes this chain' : 'stands by for this chain')
    // Whoever had it in between left notes that are true; what was read before that may not be.
    if (!(mine && before)) {
      ours = null
      backfill.replace([])
    }
    return mine
  }

  async function prepare(checkpoint: Checkpoint): Promise<void> {
    if (ours?.blockNumber === checkpoint.blockNumber && ours.blockHash === checkpoint.blockHash) return
    const gaps = await reconcileCoverage(store, { chainId, routers, checkpoint, startBlock, ours })
    ours = checkpoint
    backfill.replace(gaps)
  }

  function moved(checkpoint: Checkpoint, went: 'up' | 'down'): void {
    commits += 1
    // Whatever failed before, it goes on.
    if (went === 'up') error = null
    // Coverage is looked at again after going back, and what is being read may be from the branch that was left.
    ours = went === 'up' && ours !== null ? checkpoint : null
    if (went === 'down') backfill.replace([])
  }

  async function step(signal?: AbortSignal): Promise<boolean> {
    for (let retries = 0; ; retries += 1) {
      const before = commits
      try {
        if (!(await mayCommit())) {
          await follow.standBy()
          error = null
          return true
        }
        const atHead = await follow.look(signal)
        error = null
        const backfilled = await backfill.advance(follow.seen().head ?? 0, signal)
        return atHead && !backfilled
      } catch (thrown) {
        if (signal?.aborted) throw thrown
        if (commits > before) retries = 0
        const moved = thrown instanceof CheckpointMovedError
        // That another indexer was faster is no fault of this chain.
        if (!moved) error = note(thrown)
        if (!(moved || isRangeGone(thrown)) || retries >= immediateRetries) throw thrown
      }
    }
  }

  async function loop(signal: AbortSignal): Promise<void> {
    let failures = 0
    let reported: 'nothing' | 'outage' | 'stop' = 'nothing'
    while (!signal.aborted) {
      const before = commits
      try {
        const atRest = await step(signal)
        failures = 0
        reported = 'nothing'
        if (!lease.held()) await clock.sleep(pollMs, signal)
        else if (atRest) await wake.wait(pollMs, signal)
      } catch (thrown) {
        if (signal.aborted) return
        if (thrown instanceof CheckpointMovedError) {
          logger.info({ chainId }, 'another indexer follows this chain')
          await clock.sleep(pollMs, signal)
          continue
        }
        // A chain that goes on between failures, as in a long catch-up, waits no longer each time.
        if (commits > before) {
          failures = 0
          reported = 'nothing'
        }
        failures += 1
        const stopped = thrown instanceof BrokenHistoryError || thrown instanceof DeepReorganisationError
        const message = describeError(thrown)
        const retryInMs = stopped ? backoffCapMs : backoffMs(failures, random.fraction())
        logger[stopped ? 'error' : 'warn']({ chainId, error: message, failures, retryInMs }, 'chain not indexed')
        // That the chain cannot go on by itself is news also to whoever was told that its nodes do not answer.
        const isNews = stopped ? reported !== 'stop' : reported === 'nothing' && failures >= failuresToReport
        if (isNews) {
          reported = stopped ? 'stop' : 'outage'
          publish({ type: 'chain.failed', chainId, message })
        }
        await clock.sleep(retryInMs, signal)
      }
    }
  }

  return {
    chainId,
    step,
    async run(signal) {
      if (signal.aborted) return
      const watching = chain.watch(wake.wake, signal).catch((thrown) => void note(thrown))
      await Promise.all([loop(signal), lease.keep(signal), watching])
      backfill.close()
      await lease
        .release()
        .catch((thrown) => logger.warn({ chainId, error: describeError(thrown) }, 'lease not released'))
    },
    status: () => ({
      chainId,
      ...follow.seen(),
      leading: lease.held(),
      endpoints: chain.endpoints(),
      error: error ?? backfill.error(),
      lastError,
    }),
  }
}

function isRangeGone(error: unknown): boolean {
  return error instanceof ChainError && error.code === 'ERR_CHAIN_RANGE_GONE'
}
