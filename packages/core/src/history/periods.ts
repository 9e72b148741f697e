/** When history has ended, and how long segments are. Source: docs/retention.md. @module */
import type { EndedHistory, RetentionPolicy } from '../history-types.js'
import type { HistorySegment, SegmentedKind } from '../ports/store-history.js'

const dayMs = 86_400_000

/** Most segments of deliveries that a store has at a time, about. */
const mostSegments = 64

/** Without an end of deliveries their segments add up. */
const lastingSegmentMs = 30 * dayMs

/** The shortest time: transactions that run while a segment begins end within it. */
export const shortestMs = 60_000

/** In the order in which they are removed: attempts leave before their deliveries. */
export const segmentedKinds = ['attempts', 'deliveries', 'updates'] as const satisfies readonly SegmentedKind[]

/** @throws RangeError For a time that is no whole number, or too short. */
export function checkPolicy(policy: RetentionPolicy): void {
  for (const [kind, ms] of Object.entries(policy))
    if (ms !== null && !(Number.isSafeInteger(ms) && ms >= shortestMs))
      throw new RangeError(`The retention of ${kind} is ${ms} ms; pass a whole number from ${shortestMs}, or null.`)
}

/** How long a kind stays, in milliseconds. Attempts end with their delivery at the latest. */
export function lastsMs({ attempts, deliveries, updates }: RetentionPolicy, kind: SegmentedKind): number | null {
  if (kind === 'updates') return updates
  if (kind === 'deliveries' || attempts === null) return deliveries
  return deliveries === null ? attempts : Math.min(attempts, deliveries)
}

/** How long a segment is, in milliseconds; null: no kind ends, so that one is enough. */
export function segmentMs(policy: RetentionPolicy): number | null {
  const lasting = segmentedKinds.flatMap((kind) => lastsMs(policy, kind) ?? [])
  if (lasting.length === 0) return null
  return Math.max(
    policy.deliveries === null ? lastingSegmentMs : Math.min(dayMs, ...lasting),
    Math.max(...lasting) / mostSegments,
  )
}

/** Ended history of one kind in one segment, whose rows are not counted. */
export type EndedPart = Omit<EndedHistory & { readonly kind: SegmentedKind }, 'rows'>

/** Segments whose history of a kind has ended. */
export function endedSegments(segments: readonly HistorySegment[], policy: RetentionPolicy, now: number): EndedPart[] {
  return segmentedKinds.flatMap((kind) => {
    const ms = lastsMs(policy, kind)
    if (ms === null) return []
    return segments.flatMap(({ number, begunAt, endedAt }) =>
      endedAt !== null && endedAt <= now - ms ? [{ kind, part: number, from: begunAt, to: endedAt }] : [],
    )
  })
}

/** The newest segment whose deliveries or attempts have ended; null: there is none. */
export function lastOfDeliveries(ended: readonly EndedPart[]): number | null {
  const numbers = ended.flatMap(({ kind, part }) => (kind === 'updates' ? [] : [part]))
  return numbers.length === 0 ? null : Math.max(...numbers)
}
