/** Limits failed sign-ins per name and per source. Source: docs/decisions/operators.md. @module */
import type { Clock } from '../ports/world.js'

/** Failures within a window until further sign-ins are rejected. */
export const signInLimitDefaults = { windowMs: 15 * 60_000, perName: 5, perSource: 20 } as const

/** Most windows in memory. Each failure takes a hash, so a window ends before this many others open. */
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
  /** Whether this is the first report under a key within its window. */
  isFirst(key: string): boolean
}

/** Builds the limits. They are in memory: docs/decisions/operators.md has the reason. */
export function createSignInLimits(clock: Pick<Clock, 'now'>): SignInLimits {
  const { windowMs, perName, perSource } = signInLimitDefaults
  /** By key, in the order of their ends. */
  const windows = new Map<string, { failures: number; readonly endsAt: number }>()

  function current(key: string) {
    const window = windows.get(key)
    return window !== undefined && window.endsAt > clock.now() ? window : undefined
  }
  function wait(key: string, limit: number): number {
    const window = current(key)
    return window !== undefined && window.failures >= limit ? window.endsAt - clock.now() : 0
  }
  function add(key: string) {
    for (const [old, { endsAt }] of windows) {
      if (endsAt > clock.now() && windows.size < maxWindows) break
      windows.delete(old)
    }
    const window = current(key) ?? { failures: 0, endsAt: clock.now() + windowMs }
    window.failures += 1
    windows.set(key, window)
    return window
  }
  const nameKey = (name: string) => `name:${name}`
  const sourceKey = (source: string) => `source:${source}`
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
    isFirst: (key) => add(`report:${key}`).failures === 1,
  }
}
