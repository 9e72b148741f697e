/** Limits of a delivery and their defaults. Source: docs/interface.md 6, signature rule 5; it sets no size. @module */

/** The limits of a verifier. */
export interface Limits {
  /**
   * Largest accepted gap between `t` and the time of receipt, on either side, in whole seconds.
   * 0 accepts only the second of receipt.
   * @default 300
   */
  readonly toleranceSeconds?: number | undefined
  /** Largest accepted body, in bytes. @default 262144 */
  readonly maxBytes?: number | undefined
}

// Both are repeated below and in verifyBytes, because a name costs each bundle ten bytes. A test keeps them equal.
/** Five minutes: the recommended tolerance of docs/interface.md 6. */
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
