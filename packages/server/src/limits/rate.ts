/** Counts per key how often something happens, and says when it is too often. @module */

/** How often, by which clock. */
export interface RateOptions {
  /** Most in one period: at once after a pause, and evenly from then on. */
  readonly count: number
  readonly periodMs: number
  /** A clock that never goes back, in milliseconds. */
  readonly now: () => number
  /** Most keys that are remembered. @default 65536 */
  readonly mostKeys?: number | undefined
}

/** A limit on each of many keys. */
export interface Rate {
  /** How long a key must wait until it may be counted again, in milliseconds; 0: not at all. Counts nothing. */
  waitMs(key: string): number
  /** Counts once, unless the key must wait; resolves its wait before that, in milliseconds. */
  take(key: string): number
}

/** Sums of fractions differ from whole numbers by less. */
const roundingMs = 0.001

/**
 * Builds a limit, all keys unused. It is the generic cell rate algorithm: of each key one number is kept, the time at
 * which its allowance is whole again.
 *
 * The memory has two halves. When the newer one is full, or a period old, it becomes the older one, and what was there
 * is forgotten. After a period that forgets nobody who was still being counted. When more than half of `mostKeys` come
 * within a period, keys that were not counted for the longest begin anew: many keys fill no memory and shut nobody out.
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
