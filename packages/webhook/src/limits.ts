/** The options that bound a delivery, and their defaults. Source: INTERFACE 6, signature rule 5; INTERFACE 2.3 sets no size. @module */

/** What a verifier accepts. */
export interface Limits {
  /** Largest accepted gap between `t` and the time of receipt, on either side, in whole seconds; 0 accepts this second only. @default 300 */
  readonly toleranceSeconds?: number | undefined
  /** Largest accepted body, in bytes. @default 262144 */
  readonly maxBytes?: number | undefined
}

// Both are written out again below and in verifyBytes: a name for them costs every bundle ten bytes. A test keeps them equal.
/** Five minutes: the recommended tolerance of INTERFACE 6. */
export const freshnessDefaults = { toleranceSeconds: 300 } as const
/** 256 KiB: some hundred times the size of a snapshot. A receiver needs a bound, as its callers are strangers. */
export const bodyDefaults = { maxBytes: 262_144 } as const

/** The options with defaults. @throws {RangeError} When one is not a whole number, 0 or more. */
export function checkedLimits({ toleranceSeconds = 300, maxBytes = 262_144 }: Limits): CheckedLimits {
  assertWhole('toleranceSeconds', toleranceSeconds)
  assertWhole('maxBytes', maxBytes)
  return { toleranceSeconds, maxBytes }
}

interface CheckedLimits {
  readonly toleranceSeconds: number
  readonly maxBytes: number
}

function assertWhole(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} is ${value}, not a whole number from 0`)
}

/** A time of receipt as it is. @throws {RangeError} When it is no finite number of milliseconds. */
export function checkedTime(milliseconds: number): number {
  if (Number.isFinite(milliseconds)) return milliseconds
  throw new RangeError('The time of receipt is no finite number of milliseconds')
}
