/** A sleep that a wake ends early. @module */
import type { Clock } from '../ports/world.js'

/** The sleep of one loop. */
export interface Sleeper {
  /** Ends the current sleep. When nobody sleeps, the next sleep ends at once, so that no wake is lost. */
  wake(): void
  /** Forgets a wake that ended no sleep. */
  forgetWake(): void
  /** Sleeps `ms` milliseconds (null: without end), until a wake or an abort of the signal. Never rejects. */
  sleep(ms: number | null, signal?: AbortSignal): Promise<void>
}

/** A constant abort reason: the default one, an error with a stack, costs more than the sleep. */
const woken = 'woken'

/** Builds a sleeper on a clock. */
export function createSleeper(clock: Pick<Clock, 'sleep'>): Sleeper {
  let hasWake = false
  let sleeping: AbortController | null = null
  return {
    wake() {
      hasWake = true
      sleeping?.abort(woken)
    },
    forgetWake() {
      hasWake = false
    },
    async sleep(ms, signal) {
      if (!hasWake && !signal?.aborted) {
        const controller = new AbortController()
        const stop = () => controller.abort(woken)
        sleeping = controller
        signal?.addEventListener('abort', stop, { once: true })
        await (ms === null ? aborted(controller.signal) : clock.sleep(ms, controller.signal))
        signal?.removeEventListener('abort', stop)
        sleeping = null
      }
      hasWake = false
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
