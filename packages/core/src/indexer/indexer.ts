/** Indexes one chain from its checkpoint to its head. Source: docs/decisions/following-a-chain.md. @module */
import { ChainError, CheckpointChangedError } from '../errors.js'
import type { EventSink } from '../events.js'
import { createLease } from '../internal/lease.js'
import { assertWhole, computeBackoffMs, describeError, maxBackoffMs } from '../internal/values.js'
import type { Recording } from '../payments/recording.js'
import type { Chain, NodeStatus } from '../ports/chain.js'
import { type Clock, createSleeper, type Logger, type RandomSource } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import { createBackfill } from './backfill.js'
import type { Checkpoint } from './chain-store.js'
import { ChainAdapterError, createCheckedChain } from './checked-chain.js'
import { type ChainState, createFollower, getHeadPollMs } from './follower.js'
import { BrokenHistoryError, DeepReorgError } from './reorganize.js'

/** How far a chain is indexed, and the health of its nodes. */
export interface ChainStatus extends ChainState {
  readonly chainId: number
  /** Whether this process is the one that indexes the chain. */
  readonly leading: boolean
  readonly nodes: readonly NodeStatus[]
  /** The error of the last round; null: it went well. */
  readonly error: string | null
  /** The newest error of this process with its time in unix milliseconds, also after recovery; null: none. */
  readonly lastError: { readonly message: string; readonly at: number } | null
}

export type Indexer = ReturnType<typeof createIndexer>

/** Failures in a row until `chain.failed` is published: nodes often fail once. */
const minFailuresToReport = 3
/** Errors that only an operator can resolve. */
const operatorErrors = [BrokenHistoryError, ChainAdapterError, DeepReorgError] as const
/** `stopped`: only an operator can help. */
const severity = { none: 0, outage: 1, stopped: 2 } as const

function createFailureReporter({ chain, random, publish, logger }: IndexerDeps) {
  const { chainId } = chain
  let failures = 0
  /** The severity of the most serious report since the last success. */
  let reported: number = severity.none
  return {
    reset(): void {
      failures = 0
      reported = severity.none
    },
    /** Logs a failure, and publishes it if more serious than the last report. Returns the backoff in milliseconds. */
    report(thrown: unknown): number {
      failures += 1
      const isStopped = operatorErrors.some((operatorError) => thrown instanceof operatorError)
      const message = describeError(thrown)
      const retryInMs = isStopped ? maxBackoffMs : computeBackoffMs(failures, random.fraction())
      logger[isStopped ? 'error' : 'warn']({ chainId, error: message, failures, retryInMs }, 'indexing failed')
      const kind = isStopped ? 'stopped' : failures >= minFailuresToReport ? 'outage' : 'none'
      // An error that only an operator can resolve is reported even after a reported outage.
      if (severity[kind] > reported) publish({ type: 'chain.failed', chainId, message })
      reported = Math.max(reported, severity[kind])
      return retryInMs
    },
  }
}

/** The start, the finality and the pace of an indexer. */
export interface IndexerOptions {
  /** First block to index while nothing is stored; `head`: the head then. A stored start stays. @default 'head' */
  readonly startBlock?: number | 'head' | undefined
  /** Blocks on top of a block until it is final: no deeper reorg is followed. Null: never final. */
  readonly finalityBlocks: number | null
  /**
   * Longest time between two reads of the head once it is reached, in milliseconds. While a node announces new blocks,
   * each one wakes the reader, and this time is ten times as long.
   * @default 1000
   */
  readonly pollMs?: number | undefined
  /** Duration of the chain's lease, which this process extends, in milliseconds, 100 or more. @default 15000 */
  readonly leaseMs?: number | undefined
  /** Which payments are stored. @default 'all' */
  readonly recording?: Recording | undefined
}

interface IndexerDeps extends IndexerOptions {
  readonly store: Pick<Store, 'transaction' | 'payments' | 'chains' | 'leases'>
  readonly chain: Chain
  readonly clock: Clock
  readonly random: Pick<RandomSource, 'fraction'>
  /** The holder of the chain's lease: unique among all processes. */
  readonly holder: string
  /** Must not throw. */
  readonly publish: EventSink
  readonly logger: Logger
}

/** Maximum number of immediate retries of a step that a reorg or another indexer interrupted before any commit. */
const maxImmediateRetries = 3
/** Longest wait of an indexer that stands by between two requests for the lease. */
const standByMs = 1_000

/**
 * Builds the indexer of a chain. It commits blocks in order, each on top of its parent; a lower head, a missing block
 * or a contradiction changes nothing. The indexer with the chain's lease reads and commits; the others stand by. `run`
 * publishes `chain.failed` after three failures in a row, and once the failure is one that only an operator can end.
 * An outage has at most one event of each kind.
 */
export function createIndexer(deps: IndexerDeps) {
  const { store, clock, random, holder, publish, logger } = deps
  const chain = createCheckedChain(deps.chain)
  const { chainId } = chain
  const { startBlock = 'head', finalityBlocks, pollMs = 1_000, leaseMs = 15_000, recording = 'all' } = deps
  if (startBlock !== 'head') assertWhole('startBlock', startBlock, 0)
  if (finalityBlocks !== null) assertWhole('finalityBlocks', finalityBlocks, 0)
  assertWhole('pollMs', pollMs, 1)
  assertWhole('leaseMs', leaseMs, 100)

  let commits = 0
  let watching: Promise<void> | null = null
  let error: string | null = null
  let lastError: { readonly message: string; readonly at: number } | null = null

  const lease = createLease({
    leases: store.leases,
    clock,
    name: `indexer:${chainId}`,
    holder,
    ttlMs: leaseMs,
    onOtherHolder: (other) =>
      logger.info({ chainId, ...other }, 'another process indexes this chain: it has the lease'),
  })
  const sleeper = createSleeper(clock)
  const shared = { store, chain, clock, publish, logger, startBlock, recording, mayCommit }
  const backfill = createBackfill({ ...shared, random, onRead: sleeper.wake, onFailed: recordError })
  const follower = createFollower({ ...shared, finalityBlocks, beforeRead: backfill.prepare, onMoved })

  function recordError(thrown: unknown): string {
    const message = describeError(thrown)
    lastError = { message, at: clock.now() }
    return message
  }

  async function mayCommit(): Promise<boolean> {
    const wasLeader = lease.isActive()
    const isLeader = await lease.ensure()
    if (isLeader !== wasLeader)
      logger.info({ chainId, leading: isLeader }, isLeader ? 'indexes this chain' : 'stands by for this chain')
    // Another process may have indexed meanwhile: blocks read earlier may be outdated.
    if (!(isLeader && wasLeader)) backfill.reset()
    return isLeader
  }

  function onMoved(checkpoint: Checkpoint, direction: 'up' | 'down'): void {
    commits += 1
    if (direction === 'down') return void backfill.reset()
    error = null
    backfill.follow(checkpoint)
  }

  /** One round: reads the head and commits new blocks. Resolves true when nothing more can be read now. */
  async function step(signal?: AbortSignal): Promise<boolean> {
    for (let retryCount = 0; ; retryCount += 1) {
      const commitsBefore = commits
      try {
        if (!(await mayCommit())) {
          await follower.standBy()
          error = null
          return true
        }
        const isAtHead = await follower.step(signal)
        error = null
        const hasBackfilled = await backfill.advance(follower.state().head ?? 0, signal)
        return isAtHead && !hasBackfilled
      } catch (thrown) {
        if (signal?.aborted) throw thrown
        if (commits > commitsBefore) retryCount = 0
        const isMoved = thrown instanceof CheckpointChangedError
        // Another indexer was faster: no failure of this chain.
        if (!isMoved) error = recordError(thrown)
        const isRangeGone = thrown instanceof ChainError && thrown.code === 'ERR_CHAIN_RANGE_GONE'
        if (!(isMoved || isRangeGone) || retryCount >= maxImmediateRetries) throw thrown
      }
    }
  }

  async function loop(signal: AbortSignal): Promise<void> {
    const failures = createFailureReporter(deps)
    while (!signal.aborted) {
      const commitsBefore = commits
      try {
        const isIdle = await step(signal)
        failures.reset()
        // A process that has never led sends nothing to the nodes.
        if (lease.isActive()) watching ??= chain.watch(sleeper.wake, signal).catch((thrown) => void recordError(thrown))
        if (!lease.isActive()) await clock.sleep(Math.min(pollMs, standByMs), signal)
        else if (isIdle) await sleeper.sleep(getHeadPollMs(chain, pollMs), signal)
      } catch (thrown) {
        if (signal.aborted) return
        if (thrown instanceof CheckpointChangedError) {
          logger.info({ chainId }, 'another indexer moved the checkpoint')
          await clock.sleep(pollMs, signal)
          continue
        }
        // Commits between failures, as in a long catch-up, reset the backoff.
        if (commits > commitsBefore) failures.reset()
        await clock.sleep(failures.report(thrown), signal)
      }
    }
  }

  return {
    chainId,
    step,
    /** The chain's own notation of a transaction hash; null: it is the hash itself. */
    nativeHash: (txHash: string) => chain.nativeHash?.(txHash) ?? null,
    async run(signal: AbortSignal): Promise<void> {
      if (signal.aborted) return
      watching = null
      await Promise.all([loop(signal), lease.renew(signal)])
      await watching
      backfill.close()
      await lease
        .release()
        .catch((thrown) => logger.warn({ chainId, error: describeError(thrown) }, 'lease not released'))
    },
    status: (): ChainStatus => ({
      chainId,
      ...follower.state(),
      leading: lease.isActive(),
      nodes: chain.nodes(),
      error: error ?? backfill.error(),
      lastError,
    }),
  }
}
