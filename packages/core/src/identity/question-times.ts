/** When the provider is asked where a verification stands, for the webhook that never came. @module */
import type { Review } from '../ports/identity-provider.js'

const minute = 60_000
const day = 24 * 60 * minute

/** After a redemption, in milliseconds: verdicts take some minutes. */
export const firstQuestionMs = 10 * minute
/** While it is in flight: the provider retries its webhooks for a day. */
const inFlightMs = 60 * minute
/** A verdict may turn; it is asked for once a day for a month. */
const settledMs = day
const settledFor = 30 * day

/** Milliseconds until the next question, or null: it is not asked any more. `sinceMs`: how old the verdict is. */
export function nextQuestionMs({ reviewStatus }: Review, sinceMs: number): number | null {
  if (reviewStatus !== 'completed') return inFlightMs
  return sinceMs < settledFor ? settledMs : null
}
