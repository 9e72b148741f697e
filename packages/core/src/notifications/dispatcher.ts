/** The loop that claims and sends the deliveries of the outbox. Source: docs/decisions/fairness.md. @module */
import { computeBackoffMs, describeError, type Loop } from '../internal/values.js'
import { cacheOpenedSecrets } from './attempt.js'
import type { DispatcherOptions, DispatchRun, DispatchRunDeps } from './dispatch-run.js'
import { checkDispatcherOptions, createDispatchRun, maxPlausibleLeaseMs } from './dispatch-run.js'
import { jitter, maxRetryDelaysMs } from './retry-schedule.js'

export interface Dispatcher extends Loop {
  /** Claims and attempts deliveries until none is due. Resolves the number of attempts. */
  runOnce(signal?: AbortSignal): Promise<number>
  /** Wakes a running loop: deliveries may be due. */
  wake(): void
}

/** Time between checks for overlong waits: at least 100 times a check's duration, as it reads the whole outbox. */
const waitChecks = { everyMs: 60_000, durationFactor: 100 } as const

/**
 * Each `run` or `runOnce` has its own `concurrency` slots. `run` backs off up to 30 s while the store fails. After an
 * abort it claims no more, and settles the POSTs in flight. `runOnce` rejects with the error of a failed claim.
 */
export function createDispatcher(
  deps: DispatchRunDeps & { readonly options?: DispatcherOptions | undefined },
): Dispatcher {
  const { store, clock, random, logger } = deps
  const limits = checkDispatcherOptions(deps.options)
  const { idlePollMs } = limits
  const openSecret = cacheOpenedSecrets(deps.openSecret)
  const createRun = () => createDispatchRun({ ...deps, openSecret }, limits)
  const leaseMs = Math.max(limits.leaseMs, maxPlausibleLeaseMs)
  // A probe blocks its endpoint for the time of its lease.
  const blockMs = Math.max(Math.ceil(limits.maxBlockMs * (1 + jitter)), leaseMs)
  let lastCheck = { endedAt: Number.NEGATIVE_INFINITY, nextInMs: 0 }
  let runningCheck: Promise<void> | null = null
  const activeRuns = new Set<DispatchRun>()

  /** Starts a check for overlong waits if one is due, or if the clock was set back. Claims go on. */
  function startOverlongWaitCheck(): void {
    const ageMs = clock.now() - lastCheck.endedAt
    if (ageMs < 0 || ageMs >= lastCheck.nextInMs)
      runningCheck ??= resetOverlongWaits().finally(() => {
        runningCheck = null
      })
  }

  /** Never rejects: the next check tries again. */
  async function resetOverlongWaits(): Promise<void> {
    const begunAt = clock.now()
    try {
      const ended = await store.deliveries.resetOverlongWaits({ leaseMs, retryMs: maxRetryDelaysMs, blockMs })
      if (ended > 0)
        logger.warn({ ended }, 'Deliveries waited longer than any delay: a clock was ahead. They are due now.')
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'the outbox could not be checked for overlong waits')
    }
    const endedAt = clock.now()
    const nextInMs = Math.max(waitChecks.everyMs, waitChecks.durationFactor * (endedAt - begunAt))
    lastCheck = { endedAt, nextInMs }
  }

  /** Claims once, then sleeps until the next claim makes sense. `onIdlePoll` is called after each idle poll. */
  async function claimAndSleep(run: DispatchRun, signal: AbortSignal, onIdlePoll: () => void): Promise<unknown> {
    if (!run.canClaim()) return run.sleep(null, signal)
    const { started, end } = await run.claim()
    if (signal.aborted || end === 'batchFull') return
    if (end === 'allClaimed') return sleepUntilDue(run, started, signal, onIdlePoll)
    return run.sleep(end === 'limitReached' ? idlePollMs : null, signal)
  }

  /** Sleeps until a delivery is due or the loop is woken. A poll only reads; a claim also writes, and costs more. */
  async function sleepUntilDue(run: DispatchRun, started: number, signal: AbortSignal, onIdlePoll: () => void) {
    for (let hasSlept = false; !signal.aborted; hasSlept = true) {
      const dueInMs = await store.deliveries.msUntilDue()
      onIdlePoll()
      const isDue = dueInMs !== null && dueInMs <= 0
      if (isDue && (started > 0 || hasSlept)) return
      // A due delivery that cannot be claimed waits for the next poll; otherwise the loop would spin.
      const sleepMs = isDue ? idlePollMs : Math.min(Math.ceil(dueInMs ?? idlePollMs), idlePollMs)
      const isWoken = await run.sleep(sleepMs, signal)
      if (isDue || isWoken) return
      startOverlongWaitCheck()
    }
  }

  return {
    async runOnce(signal) {
      const run = createRun()
      let attempts = 0
      try {
        while (!signal?.aborted) {
          if (run.canClaim()) {
            const { started, end } = await run.claim()
            attempts += started
            if (started === 0 && end === 'allClaimed') break
            // Without a POST in flight nothing would wake the sleep.
            if (end === 'batchFull' || end === 'allClaimed' || !run.isBusy()) continue
          }
          await run.sleep(null, signal)
        }
        return attempts
      } finally {
        await run.drain()
      }
    },

    async run(signal) {
      const run = createRun()
      activeRuns.add(run)
      const stopListening = store.deliveries.whenDue(() => run.wake())
      let failures = 0
      const endFailures = () => {
        failures = 0
      }
      while (!signal.aborted) {
        try {
          startOverlongWaitCheck()
          await claimAndSleep(run, signal, endFailures)
          endFailures()
        } catch (error) {
          failures += 1
          const retryInMs = computeBackoffMs(failures, random.fraction())
          logger.error({ error: describeError(error), failures, retryInMs }, 'outbox not readable')
          await clock.sleep(retryInMs, signal)
        }
      }
      stopListening()
      activeRuns.delete(run)
      await Promise.all([runningCheck, run.drain()])
    },

    wake() {
      for (const run of activeRuns) run.wake()
    },
  }
}
