/** A sleep that somebody else can cut short. @module */
import type { Clock } from '../ports/world.js'

/** An alarm for one sleeper. */
export interface Alarm {
  /** Ends the current sleep; when nobody sleeps, the next sleep ends at once, so that no ring is lost. */
  ring(): void
  /** Forgets a ring that ended no sleep: what it was for is looked after now. */
  forget(): void
  /** Sleeps `ms` milliseconds (null: without end), until a ring, or until the signal aborts. Never rejects. */
  sleep(ms: number | null, signal?: AbortSignal): Promise<void>
}

/** Why a sleep ends early. Given, since the error that is made without it costs more than the sleep. */
const over = 'the sleep is over'

/** Builds an alarm on a clock. */
export function createAlarm(clock: Pick<Clock, 'sleep'>): Alarm {
  let rung = false
  let sleeper: AbortController | null = null
  return {
    ring() {
      rung = true
      sleeper?.abort(over)
    },
    forget() {
      rung = false
    },
    async sleep(ms, signal) {
      if (!rung && !signal?.aborted) {
        const controller = new AbortController()
        const stop = () => controller.abort(over)
        sleeper = controller
        signal?.addEventListener('abort', stop, { once: true })
        await (ms === null ? aborted(controller.signal) : clock.sleep(ms, controller.signal))
        signal?.removeEventListener('abort', stop)
        sleeper = null
      }
      rung = false
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
