/** Orders payment snapshots. Source: docs/interface.md 6, receiver obligations. @module */

/** The decision about a snapshot: apply it, or drop it as a duplicate or as superseded. */
export type VersionDecision = 'apply' | 'duplicate' | 'stale'

/** Compares an incoming version with the stored one (`undefined` when the payment is new). */
export function decideVersion(stored: number | undefined, incoming: number): VersionDecision {
  if (stored === undefined || incoming > stored) return 'apply'
  return incoming === stored ? 'duplicate' : 'stale'
}
