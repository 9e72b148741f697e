/** A clock that only a test moves. @module */

/** A movable clock. Its `now` needs no `this`, so it fits every option for a clock. */
export interface FakeClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
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
  return {
    now: () => at,
    advance(ms) {
      if (whole(ms) < 0) throw new RangeError(`advance got ${ms}; use set to go back.`)
      at += ms
    },
    set(ms) {
      at = whole(ms)
    },
  }
}

function whole(ms: number): number {
  if (Number.isSafeInteger(ms)) return ms
  throw new RangeError(`The clock got ${ms}; pass a whole number of milliseconds.`)
}
