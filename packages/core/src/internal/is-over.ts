/** Judges stored times that a clock ahead may have written. See docs/decisions/clocks.md. @module */

/** The largest difference between the clocks of two processes, in milliseconds. */
export const processSkewMs = 5 * 60_000

/**
 * Whether something that ends at a stored time is over. An end further ahead than the longest duration was written by a
 * clock that was ahead, and counts as past.
 * @param now - Unix time in milliseconds.
 */
export function isOver(endsAt: number, now: number, longestMs: number): boolean {
  return now >= endsAt || endsAt > now + longestMs + processSkewMs
}
