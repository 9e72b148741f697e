/** A wait that a wake-up ends early. @module */
import type { Clock } from '../ports/world.js'

/** A wait and its wake-up. */
export interface Wake {
  /** Ends the wait. Without a wait, the next one ends at once. */
  wake(): void
  /**
   * Resolves after `ms` milliseconds, at a wake-up, at once when one came since the last wait, or when the signal
   * aborts.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** Builds it, for one waiter at a time. */
export function createWake(clock: Clock): Wake {
  let isWoken = false
  let endSleep: (() => void) | null = null
  return {
    wake() {
      isWoken = true
      endSleep?.()
    },
    async wait(ms, signal) {
      if (!isWoken && !signal.aborted) {
        const sleep = new AbortController()
        endSleep = () => sleep.abort()
        signal.addEventListener('abort', endSleep, { once: true })
        await clock.sleep(ms, sleep.signal)
        signal.removeEventListener('abort', endSleep)
        endSleep = null
      }
      isWoken = false
    },
  }
}
