/** Limits failed sign-ins per name and per source, and hashes at once. Source: docs/decisions/operators.md. @module */

import { steadyNow } from '../ports/system.js'
import type { Clock } from '../ports/world.js'
import { SignInLimitedError } from './errors.js'

/** Two hashes take 256 MiB and two of the four threads that Node has for such work. */
export const hashSlotDefaults = { slots: 2, waiting: 16, busyMs: 5_000 } as const

/** Bounds of {@link HashSlots}. */
interface HashSlotLimits {
  /** Most hashes at once. */
  readonly slots: number
  /** Most callers that wait for a slot. */
  readonly waiting: number
  /** The wait that further callers are asked for, in milliseconds. */
  readonly busyMs: number
}

/** A caller that waits for a slot. */
interface Waiter {
  readonly network: string
  readonly start: () => void
  readonly reject: (error: SignInLimitedError) => void
}

/**
 * Runs work in one of a few slots, in the order of arrival. When the queue is full, the network with the most waiting
 * callers loses its newest one to a network with fewer.
 * @param network - Who asks, as {@link networkOf} returns it.
 * @throws SignInLimitedError `ERR_SIGN_IN_LIMITED` when too many wait.
 */
type HashSlots = <T>(network: string, work: () => Promise<T>) => Promise<T>

/** Builds the slots of one process. */
export function createHashSlots({ slots, waiting, busyMs }: HashSlotLimits = hashSlotDefaults): HashSlots {
  let free = slots
  const queue: Waiter[] = []

  /** Frees a place of the queue for a caller of the network, or throws. */
  function makePlace(network: string): void {
    const counts = new Map<string, number>()
    for (const each of queue) counts.set(each.network, (counts.get(each.network) ?? 0) + 1)
    const [largest = '', count = 0] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0])
    if ((counts.get(network) ?? 0) + 1 >= count) throw new SignInLimitedError(busyMs)
    const [displaced] = queue.splice(
      queue.findLastIndex((each) => each.network === largest),
      1,
    )
    displaced?.reject(new SignInLimitedError(busyMs))
  }

  return async (network, work) => {
    if (free > 0) free -= 1
    else {
      if (queue.length >= waiting) makePlace(network)
      // Whoever ends hands its slot over, so `free` stays the same.
      await new Promise<void>((start, reject) => queue.push({ network, start, reject }))
    }
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) free += 1
      else next.start()
    }
  }
}

/** The network of a source: /24 of IPv4, /48 of IPv6. One owner has all sources of it. Any other text is its own. */
export function networkOf(source: string): string {
  const [, v4] = /^(?:::ffff:)?(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/i.exec(source) ?? []
  if (v4 !== undefined) return `${v4}.0/24`
  if (!source.includes(':')) return source
  // The groups that `::` stands for are zeros.
  const groups = (source.split('::', 1)[0] ?? '').split(':')
  return `${[0, 1, 2]
    .map((n) => Number.parseInt(groups[n] ?? '', 16) || 0)
    .map((group) => group.toString(16))
    .join(':')}::/48`
}

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
interface SignInLimits {
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
