/** Limits failed sign-ins per name and per source. Source: docs/decisions/operators.md. @module */
import type { Clock } from '../ports/world.js'
import { steadyNow } from '../world/system.js'

/** Failures within a window until further sign-ins are rejected. */
export const signInLimitDefaults = { windowMs: 15 * 60_000, perName: 5, perSource: 20, reports: 20 } as const

/** Most windows in memory; the oldest ends early. An operator's failure takes a hash, so such a window seldom does. */
const maxWindows = 100_000

/** One sign-in that the limits let pass. */
interface CountedSignIn {
  /** Removes the failures of the name, and this sign-in from those of the source. */
  succeeded(): void
  /** Removes this sign-in: an error of the service ended it. */
  cancelled(): void
}

/** The limits of one process. */
export interface SignInLimits {
  /** Milliseconds until a sign-in is accepted; 0: now. */
  waitMs(name: string, source: string): number
  /** Counts a sign-in as failed until it succeeds, so that sign-ins at once cannot pass a limit together. */
  count(name: string, source: string): CountedSignIn
  /** Removes the failures of a name. */
  clear(name: string): void
  /**
   * Writes the first report under a key within its window, and at most 20 within a window: sources and addresses are
   * without number, and strangers choose them. A report whose writing fails does not count.
   */
  reportOnce(key: string, write: () => Promise<void>): Promise<void>
}

/** Builds the limits. They are in memory: docs/decisions/operators.md has the reason. */
export function createSignInLimits(clock: Pick<Clock, 'now'>): SignInLimits {
  const { windowMs, perName, perSource, reports } = signInLimitDefaults
  const now = steadyNow(clock)
  /** By key, in the order of their ends. */
  const windows = new Map<string, { failures: number; readonly endsAt: number }>()
  // Not among the windows: other ones never end it early.
  let reported = { count: 0, endsAt: 0 }

  function current(key: string) {
    const window = windows.get(key)
    return window !== undefined && window.endsAt > now() ? window : undefined
  }
  function wait(key: string, limit: number): number {
    const window = current(key)
    return window !== undefined && window.failures >= limit ? window.endsAt - now() : 0
  }
  function add(key: string) {
    for (const [old, { endsAt }] of windows) {
      if (endsAt > now() && windows.size < maxWindows) break
      windows.delete(old)
    }
    const window = current(key) ?? { failures: 0, endsAt: now() + windowMs }
    window.failures += 1
    windows.set(key, window)
    return window
  }
  const nameKey = (name: string) => `name:${name}`
  const sourceKey = (source: string) => `source:${source}`
  const reportKey = (key: string) => `report:${key}`
  return {
    waitMs: (name, source) => Math.max(wait(nameKey(name), perName), wait(sourceKey(source), perSource)),
    count(name, source) {
      const ofName = add(nameKey(name))
      const ofSource = add(sourceKey(source))
      return {
        succeeded() {
          windows.delete(nameKey(name))
          ofSource.failures -= 1
        },
        cancelled() {
          ofName.failures -= 1
          ofSource.failures -= 1
        },
      }
    },
    clear: (name) => void windows.delete(nameKey(name)),
    async reportOnce(key, write) {
      if (reported.endsAt <= now()) reported = { count: 0, endsAt: now() + windowMs }
      const inWindow = reported
      if (inWindow.count >= reports || add(reportKey(key)).failures > 1) return
      inWindow.count += 1
      try {
        await write()
      } catch (error) {
        inWindow.count -= 1
        windows.delete(reportKey(key))
        throw error
      }
    },
  }
}
