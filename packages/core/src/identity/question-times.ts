/** When the provider is asked where a verification stands, for the webhook that never came. @module */
import type { Review } from '../ports/identity-provider.js'

const minute = 60_000
const day = 24 * 60 * minute

/** After a redemption, in milliseconds: verdicts take some minutes. */
export const firstQuestionMs = 10 * minute
/** While it is in flight, in milliseconds: the provider retries its webhooks for a day. */
export const inFlightMs = 60 * minute
/** When a question without an answer, or with a doubtful one, is asked again, in milliseconds. */
export const againMs = minute
/** How long an applicant must be missing, in milliseconds, before it counts as gone although no webhook told so. */
export const missingForMs = day
/** Most applicants that may be missing at a time for one of them to count as gone: more, and the fault is likely ours. */
export const mostMissing = 5
/** How long an event of the provider is remembered, in milliseconds: longer than verdicts are asked about. */
export const rememberEventsMs = 40 * day

/** A verdict may turn; it is asked for once a day for a month. */
const settledMs = day
const settledFor = 30 * day

/** Milliseconds until the next question, or null: it is not asked any more. `sinceMs`: how old the verdict is. */
export function nextQuestionMs({ reviewStatus }: Pick<Review, 'reviewStatus'>, sinceMs: number): number | null {
  if (reviewStatus !== 'completed') return inFlightMs
  return sinceMs < settledFor ? settledMs : null
}

/** The earlier of two times until a question; null: none. */
export function soonest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
