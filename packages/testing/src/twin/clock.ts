/** The clock of a twin: it stands still until the test moves it. @module */
import type { Clock } from '@payment-integration/core/ports'

/** A clock that only its owner moves. */
export interface TwinClock extends Clock {
  /** Jumps forward to a time in unix milliseconds, and ends the sleeps that are over by then. */
  moveTo(ms: number): void
}

/** Makes a clock. @param start - Unix time in milliseconds. */
export function createTwinClock(start: number): TwinClock {
  let now = start
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  return {
    now: () => now,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const sleeper = {
          at: now + ms,
          wake() {
            sleepers.delete(sleeper)
            signal?.removeEventListener('abort', sleeper.wake)
            resolve()
          },
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', sleeper.wake, { once: true })
      })
    },
    moveTo(ms) {
      now = Math.max(now, ms)
      const over = [...sleepers].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)
      for (const { wake } of over) wake()
    },
  }
}
