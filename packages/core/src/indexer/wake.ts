/** A wait that news can end. @module */
import type { Clock } from '../ports/world.js'

/** Ends a wait early. */
export interface Wake {
  /** Something is new. Where nobody waits, the next wait is over at once. */
  wake(): void
  /** Resolves after `ms` milliseconds, at news, at once when there was some since the last wait, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** Builds one, for one waiter at a time. */
export function createWake(clock: Clock): Wake {
  let news = false
  let rouse: (() => void) | null = null
  return {
    wake() {
      news = true
      rouse?.()
    },
    async wait(ms, signal) {
      if (!news && !signal.aborted) {
        const nap = new AbortController()
        rouse = () => nap.abort()
        signal.addEventListener('abort', rouse, { once: true })
        await clock.sleep(ms, nap.signal)
        signal.removeEventListener('abort', rouse)
        rouse = null
      }
      news = false
    },
  }
}
