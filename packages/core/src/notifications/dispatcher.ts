/** Sends what the outbox holds: claims due deliveries and keeps a bounded number of posts in flight. Source: docs/architecture.md. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { assertWhole } from '../internal/assert-whole.js'
import { backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import type { Clock } from '../ports/world.js'
import type { Dispatcher } from '../service-types.js'
import type { Alarm } from './alarm.js'
import { keepOpened } from './opened-secrets.js'
import { openRound, type Round, type RoundDeps } from './round.js'

/** How a dispatcher works. */
export interface DispatcherOptions {
  /** Most posts in flight at a time. Retries and replays take at most half of them. @default 256 */
  readonly concurrency?: number | undefined
  /** Most posts in flight at a time to one endpoint. @default 32 */
  readonly perEndpoint?: number | undefined
  /** Most deliveries claimed at a time; never more than there are free slots, so that no claim waits. @default 256 */
  readonly batch?: number | undefined
  /**
   * How long a claim is held, in milliseconds. At least {@link minLeaseMs}: a post and its settling must fit.
   * @default 15000
   */
  readonly leaseMs?: number | undefined
  /** Longest wait before looking for due deliveries again, in milliseconds. @default 250 */
  readonly idlePollMs?: number | undefined
}

/** The defaults of {@link DispatcherOptions}. */
export const dispatcherDefaults = {
  concurrency: 256,
  perEndpoint: 32,
  batch: 256,
  leaseMs: 15_000,
  idlePollMs: 250,
} as const

/** The shortest lease: the whole budget of a post, and 5 s to settle it. */
export const minLeaseMs = deliveryTimeoutMs + 5_000

/** What a dispatcher needs from outside. */
export interface DispatcherDeps extends RoundDeps {
  readonly clock: Clock
  readonly options?: DispatcherOptions | undefined
}

/**
 * Builds a dispatcher.
 *
 * `run` never rejects: when the store fails it backs off up to 30 s and goes on. When its signal aborts it claims nothing
 * more, lets the posts in flight finish and settle, and resolves. `runOnce` rejects with the store's error when a claim
 * fails, after its posts in flight have settled. What cannot be settled is tried again while its lease lasts, by both of them.
 * Each call has its own `concurrency` slots.
 * @throws RangeError When an option is out of range.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, clock, random, logger } = deps
  const {
    concurrency = dispatcherDefaults.concurrency,
    perEndpoint = dispatcherDefaults.perEndpoint,
    batch = dispatcherDefaults.batch,
    leaseMs = dispatcherDefaults.leaseMs,
    idlePollMs = dispatcherDefaults.idlePollMs,
  } = deps.options ?? {}
  assertWhole('concurrency', concurrency, 1)
  assertWhole('perEndpoint', perEndpoint, 1)
  assertWhole('batch', batch, 1)
  assertWhole('leaseMs', leaseMs, minLeaseMs)
  assertWhole('idlePollMs', idlePollMs, 1)
  const openSecret = keepOpened(deps.openSecret)
  const alarms = new Set<Alarm>()
  const open = () => openRound({ ...deps, openSecret }, { concurrency, perEndpoint, batch, leaseMs })

  /** Claims once and waits for what should be waited for before the next claim. */
  async function step(round: Round, signal: AbortSignal): Promise<void> {
    if (!round.hasRoom()) return round.alarm.sleep(null, signal)
    const { started, left } = await round.claim()
    if (left === 'batch' || signal.aborted) return
    if (left === 'full') return round.alarm.sleep(null, signal)
    // Something is left for the end of a post, which rings, and when else something is due need not be known.
    if (left === 'bound') return round.alarm.sleep(idlePollMs, signal)
    const due = await store.deliveries.msUntilDue()
    if (due !== null && due <= 0) {
      // What is due and was not claimable waits for the next poll, so that the loop cannot spin.
      if (started === 0) await round.alarm.sleep(idlePollMs, signal)
    } else await round.alarm.sleep(Math.min(Math.ceil(due ?? idlePollMs), idlePollMs), signal)
  }

  return {
    async runOnce(signal) {
      const round = open()
      let attempts = 0
      try {
        while (!signal?.aborted) {
          if (round.hasRoom()) {
            const { started, left } = await round.claim()
            attempts += started
            if (started === 0 && left === 'nothing') break
            // What was left may be had now that nothing is under way, and nothing would ring.
            if (left === 'batch' || left === 'nothing' || !round.isBusy()) continue
          }
          await round.alarm.sleep(null, signal)
        }
        return attempts
      } finally {
        await round.drained()
      }
    },

    async run(signal) {
      const round = open()
      alarms.add(round.alarm)
      const stopListening = store.deliveries.whenDue(() => round.alarm.ring())
      let failures = 0
      while (!signal.aborted) {
        try {
          await step(round, signal)
          failures = 0
        } catch (error) {
          failures += 1
          const retryInMs = backoffMs(failures, random.fraction())
          logger.error({ error: describeError(error), failures, retryInMs }, 'outbox not readable')
          await clock.sleep(retryInMs, signal)
        }
      }
      stopListening()
      alarms.delete(round.alarm)
      await round.drained()
    },

    wake() {
      for (const alarm of alarms) alarm.ring()
    },
  }
}
