/** Orders payment snapshots. Source: INTERFACE 6, receiver obligations. @module */

/** What a receiver does with a snapshot: act on it, or drop it as already seen or overtaken. */
export type VersionDecision = 'apply' | 'duplicate' | 'stale'

/** Compares an incoming version with the stored one (`undefined` when the payment is new). */
export function decideVersion(stored: number | undefined, incoming: number): VersionDecision {
  if (stored === undefined || incoming > stored) return 'apply'
  return incoming === stored ? 'duplicate' : 'stale'
}
