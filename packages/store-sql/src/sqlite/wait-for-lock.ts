/** Waits for the file's lock without blocking this process. @module */
import { setTimeout as delay } from 'node:timers/promises'
import { isLocked } from './sqlite-error.js'

/**
 * Runs `attempt` until the file is not locked, or rejects with the last error after `busyTimeoutMs`. SQLite's own
 * busy timeout would block the event loop.
 */
export async function waitForLock<T>(busyTimeoutMs: number, attempt: () => T): Promise<T> {
  let deadline: number | undefined
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 20)) {
    try {
      return attempt()
    } catch (error) {
      if (!isLocked(error)) throw error
      const now = performance.now()
      deadline ??= now + busyTimeoutMs
      if (now >= deadline) throw error
    }
    await delay(waitMs)
  }
}
