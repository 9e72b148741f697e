/** The two-sided time window of a delivery. Source: INTERFACE 6, signature rule 5. @module */
import { FutureDeliveryError, StaleDeliveryError } from './errors.js'

/** The window and the clock it is measured by. */
export interface FreshnessOptions {
  /** Largest accepted gap between `t` and the clock, on either side, in whole seconds; 0 accepts this second only. @default 300 */
  readonly toleranceSeconds?: number | undefined
  /** The clock: milliseconds since the epoch. For queued work pass the time of receipt. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** Five minutes: the recommended tolerance of INTERFACE 6. */
export const freshnessDefaults = { toleranceSeconds: 300 } as const

/**
 * Reads the options once and checks them.
 * @throws {RangeError} When the tolerance is not a whole number, 0 or more. @throws {TypeError} When `now` is no function.
 */
export function freshnessOptions(options: FreshnessOptions): { toleranceSeconds: number; now: () => number } {
  const { toleranceSeconds = freshnessDefaults.toleranceSeconds, now = () => Date.now() } = options
  if (!Number.isSafeInteger(toleranceSeconds) || toleranceSeconds < 0)
    throw new RangeError(`toleranceSeconds is ${toleranceSeconds}; pass a whole number of seconds, 0 or more.`)
  if (typeof now !== 'function') throw new TypeError(`now is ${typeof now}; pass a function that gives milliseconds.`)
  return { toleranceSeconds, now }
}

/**
 * Checks that a delivery was signed recently, by this clock, and gives its age in seconds (negative when `t` is ahead).
 * @param signedAt - The header's `t`: unix time in whole seconds.
 * @throws {@link StaleDeliveryError} `ERR_DELIVERY_STALE` when older than the tolerance.
 * @throws {@link FutureDeliveryError} `ERR_DELIVERY_FUTURE` when further ahead than the tolerance.
 * @throws {RangeError} When the tolerance is out of range, or the clock gives no finite number.
 * @throws {TypeError} When `now` is no function.
 * @example assertFresh(1_700_000_000, { toleranceSeconds: 60 })
 */
export function assertFresh(signedAt: number, options: FreshnessOptions = {}): number {
  const { toleranceSeconds, now } = freshnessOptions(options)
  const ageSeconds = Math.floor(now() / 1000) - signedAt
  if (!Number.isFinite(ageSeconds)) throw new RangeError('now() gave no finite number; it must give milliseconds.')
  if (ageSeconds > toleranceSeconds) throw new StaleDeliveryError(ageSeconds, toleranceSeconds)
  if (ageSeconds < -toleranceSeconds) throw new FutureDeliveryError(ageSeconds, toleranceSeconds)
  return ageSeconds
}
