/** Limits a rate per key. @module */

/** Options of a rate limit. */
export interface RateOptions {
  /** Most events in one period: all at once after a pause, evenly from then on. */
  readonly count: number
  readonly periodMs: number
  /** A clock that never goes back, in milliseconds. */
  readonly now: () => number
  /** Most keys in memory. @default 65536 */
  readonly mostKeys?: number | undefined
}

/** A rate limit per key. */
export interface Rate {
  /** The wait until a key may be counted again, in milliseconds; 0: none. Counts nothing. */
  waitMs(key: string): number
  /** Counts once, unless the key must wait; returns its wait before that, in milliseconds. */
  take(key: string): number
}

/** Larger than any rounding error of summed fractions. */
const roundingMs = 0.001

/**
 * Builds a limit with unused keys. By the generic cell rate algorithm it stores one number per key: the time at which
 * its allowance is full again.
 *
 * The memory has two halves. When the newer half is full, or a period old, it becomes the older half, and the former
 * older half is dropped. After a full period that drops no key with a partial allowance. When more than half of
 * `mostKeys` arrive within a period, the keys unused for longest start anew. So many keys neither fill the memory nor
 * lock anybody out.
 */
export function createRate({ count, periodMs, now, mostKeys = 65_536 }: RateOptions): Rate {
  const spacingMs = periodMs / count
  let newer = new Map<string, number>()
  let older = newer
  let since = now()

  const wholeAt = (key: string) => newer.get(key) ?? older.get(key) ?? Number.NEGATIVE_INFINITY
  function waitAt(at: number, key: string): number {
    const wait = wholeAt(key) + spacingMs - periodMs - at
    return wait > roundingMs ? wait : 0
  }

  return {
    waitMs: (key) => waitAt(now(), key),
    take(key) {
      const at = now()
      const wait = waitAt(at, key)
      if (wait > 0) return wait
      if (at - since >= periodMs || newer.size >= mostKeys / 2) {
        older = newer
        newer = new Map()
        since = at
      }
      newer.set(key, Math.max(wholeAt(key), at) + spacingMs)
      return 0
    },
  }
}
