/** Orders reviews, and says when each is polled. Source: docs/interface.md 3. @module */
import type { Review } from '../ports/identity-provider.js'
import type { Verification } from '../ports/store-identity.js'

const minute = 60_000
const day = 24 * 60 * minute

/** How far ahead of this service's clock a verdict may be dated, in milliseconds. */
export const mostAheadMs = 5 * minute
/** When the provider is first polled after a redemption, in milliseconds: verdicts take some minutes. */
export const firstPollMs = 10 * minute
/** How often a review in flight is polled, in milliseconds: the provider retries its webhooks for a day. */
export const inFlightPollMs = 60 * minute
/** When a poll without an answer, or with a doubtful one, is repeated, in milliseconds. */
export const repeatPollMs = minute
/** A verdict may turn: it is polled once a day for a month. */
const completedPollMs = day
const completedPollsForMs = 30 * day

function openReview(reviewStatus: Review['reviewStatus']): Review {
  return { reviewStatus, reviewAnswer: null, rejectType: null, rejectLabels: [] }
}

/** The answer where nothing is known yet. */
export const notStarted: Review = openReview('not_started')
/** A redemption was answered without a status: the checks have begun. Source: docs/interface.md 3 ("normally init"). */
export const begunReview: Review = openReview('init')
/** An applicant that is switched off is not approved, and may be switched on again. */
const switchedOff: Review = openReview('onHold')

/** Whether a verification was rejected: a fresh token may be redeemed. */
export function isRejected(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'RED'
}

/** Whether a verification was approved. */
export function isApproved(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'GREEN'
}

/** The review that the donor is answered, or null: an applicant that is switched off is not approved. */
export function reviewToAnswer({ review, presence }: Pick<Verification, 'review' | 'presence'>): Review | null {
  return review !== null && presence?.isActive === false && !isRejected(review) ? switchedOff : review
}

/** A review with the provider's time of it in unix milliseconds; null: it has none. */
export interface TimedReview {
  readonly at: number | null
  readonly review: Review | null
}

/** Whether a time is so far ahead of this service's clock that everything after it would seem old. */
export function isAhead(at: number, now: number): boolean {
  return at > now + mostAheadMs
}

/** The provider's time of a verdict in its answer; null when that is ahead of this service's clock. */
export function believedTime(at: number | null, now: number): number | null {
  return at !== null && isAhead(at, now) ? null : at
}

/** Negative: `review` is older than what is known. Of two at one time the worse one counts, in any order. */
export function compareReviews(review: TimedReview, known: TimedReview): number {
  if (known.at === null || review.at === null) return 1
  if (review.at !== known.at) return review.at - known.at
  const [one, other] = [weightOf(review.review), weightOf(known.review)]
  return one === other ? 0 : one < other ? -1 : 1
}

/** Whether a rejection would turn into an approval that is not shown to be the newer of the two. */
export function isDoubtful(review: TimedReview, known: TimedReview): boolean {
  if (!isRejected(known.review) || !isApproved(review.review)) return false
  return review.at === null || known.at === null || review.at <= known.at
}

/** Whether a verdict became none: a late webhook looks the same. */
export function turnsBack(before: Review | null, after: Review | null): boolean {
  return before?.reviewStatus === 'completed' && after !== null && after.reviewStatus !== 'completed'
}

/** Whether two reviews say the same. */
export function isEqual(one: Review | null, other: Review | null): boolean {
  return JSON.stringify(fieldsOf(one)) === JSON.stringify(fieldsOf(other))
}

/** Milliseconds until the next poll, or null: there is none. @param ageMs - How old the verdict is. */
export function nextPollMs({ reviewStatus }: Pick<Review, 'reviewStatus'>, ageMs: number): number | null {
  if (reviewStatus !== 'completed') return inFlightPollMs
  return ageMs < completedPollsForMs ? completedPollMs : null
}

/** Text that sorts by how bad a review is. */
function weightOf(review: Review | null): string {
  const weight = isRejected(review) ? 2 : isApproved(review) ? 1 : 0
  return `${weight} ${JSON.stringify(fieldsOf(review))}`
}

function fieldsOf(review: Review | null): readonly unknown[] | null {
  return review && [review.reviewStatus, review.reviewAnswer, review.rejectType, review.rejectLabels]
}
