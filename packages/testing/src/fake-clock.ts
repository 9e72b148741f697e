/** A clock that only a test moves. @module */

/** A movable clock. Its functions need no `this`, so it fits every option for a clock. */
export interface FakeClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Resolves once the clock has moved on by `ms`, or the signal aborts. Fits every option for a wait. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Moves forward. @throws {RangeError} When `ms` is not a whole number, 0 or more. */
  advance(ms: number): void
  /** Jumps to a time, earlier or later. @throws {RangeError} When `ms` is not a whole number. */
  set(ms: number): void
}

/** Default start: 2025-01-01T00:00:00Z. */
export const fakeClockStart = Date.UTC(2025, 0, 1)

/**
 * Makes a clock.
 * @param start - Milliseconds since the epoch.
 * @throws {RangeError} When `start` is not a whole number.
 */
export function createFakeClock(start: number = fakeClockStart): FakeClock {
  let at = whole(start)
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>()
  function set(ms: number): void {
    at = whole(ms)
    const over = [...sleepers].filter(({ until }) => until <= at).sort((a, b) => a.until - b.until)
    for (const { wake } of over) wake()
  }
  return {
    now: () => at,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const sleeper = {
          until: at + ms,
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
    advance(ms) {
      if (whole(ms) < 0) throw new RangeError(`advance got ${ms}; use set to go back.`)
      set(at + ms)
    },
    set,
  }
}

function whole(ms: number): number {
  if (Number.isSafeInteger(ms)) return ms
  throw new RangeError(`The clock got ${ms}; pass a whole number of milliseconds.`)
}
