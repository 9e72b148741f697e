/** Sends what the outbox holds: claims due deliveries and keeps a bounded number of posts in flight. Source: DESIGN section 2, flow 3. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { assertWhole } from '../internal/assert-whole.js'
import { backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import type { Clock } from '../ports/world.js'
import type { Dispatcher } from '../service-types.js'
import { type Alarm, createAlarm } from './alarm.js'
import { type AttemptDeps, createAttempt } from './attempt.js'

/** How a dispatcher works. */
export interface DispatcherOptions {
  /** Most posts in flight at a time. @default 32 */
  readonly concurrency?: number | undefined
  /** Most deliveries claimed at a time; never more than there are free slots, so that no claim waits. @default 64 */
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
export const dispatcherDefaults = { concurrency: 32, batch: 64, leaseMs: 15_000, idlePollMs: 250 } as const

/** The shortest lease: the whole budget of a post, and 5 s to settle it. */
export const minLeaseMs = deliveryTimeoutMs + 5_000

/** What a dispatcher needs from outside. */
export interface DispatcherDeps extends AttemptDeps {
  readonly clock: Clock
  readonly options?: DispatcherOptions | undefined
}

/**
 * Builds a dispatcher.
 *
 * `run` never rejects: when the store fails it backs off up to 30 s and goes on. When its signal aborts it claims nothing
 * more, lets the posts in flight finish and settle, and resolves. `runOnce` rejects with the store's error when a claim
 * fails, after its posts in flight have settled. Each call has its own `concurrency` slots.
 * @throws RangeError When an option is out of range.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, clock, random, logger } = deps
  const {
    concurrency = dispatcherDefaults.concurrency,
    batch = dispatcherDefaults.batch,
    leaseMs = dispatcherDefaults.leaseMs,
    idlePollMs = dispatcherDefaults.idlePollMs,
  } = deps.options ?? {}
  assertWhole('concurrency', concurrency, 1)
  assertWhole('batch', batch, 1)
  assertWhole('leaseMs', leaseMs, minLeaseMs)
  assertWhole('idlePollMs', idlePollMs, 1)
  const attempt = createAttempt(deps)
  const alarms = new Set<Alarm>()

  /** Waits for a free slot, claims as many as are free and starts them. Resolves the number started, 0 once aborted. */
  async function startDue(inFlight: Set<Promise<void>>, signal?: AbortSignal): Promise<number> {
    while (inFlight.size >= concurrency) await Promise.race(inFlight)
    if (signal?.aborted) return 0
    const claims = await store.deliveries.claim({ limit: Math.min(batch, concurrency - inFlight.size), leaseMs })
    for (const claim of claims) {
      const post = attempt(claim).then(() => {
        inFlight.delete(post)
      })
      inFlight.add(post)
    }
    return claims.length
  }

  async function idleMs(): Promise<number> {
    const due = await store.deliveries.msUntilDue()
    // A delivery that is due but was not claimable just now waits for the next poll, so that the loop cannot spin.
    return due === null || due <= 0 ? idlePollMs : Math.min(Math.ceil(due), idlePollMs)
  }

  return {
    async runOnce(signal) {
      const inFlight = new Set<Promise<void>>()
      let attempts = 0
      try {
        for (;;) {
          const started = await startDue(inFlight, signal)
          if (started === 0) return attempts
          attempts += started
        }
      } finally {
        await Promise.all(inFlight)
      }
    },

    async run(signal) {
      const inFlight = new Set<Promise<void>>()
      const alarm = createAlarm(clock)
      alarms.add(alarm)
      let failures = 0
      while (!signal.aborted) {
        try {
          const started = await startDue(inFlight, signal)
          if (started === 0 && !signal.aborted) await alarm.sleep(await idleMs(), signal)
          failures = 0
        } catch (error) {
          failures += 1
          const retryInMs = backoffMs(failures, random.fraction())
          logger.error({ error: describeError(error), failures, retryInMs }, 'outbox not readable')
          await clock.sleep(retryInMs, signal)
        }
      }
      alarms.delete(alarm)
      await Promise.all(inFlight)
    },

    wake() {
      for (const alarm of alarms) alarm.ring()
    },
  }
}
