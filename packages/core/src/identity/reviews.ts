/** Orders reviews, and schedules their polls. Source: docs/interface.md 3. @module */
import type { Review } from '../ports/identity.js'
import type { Verification } from './identity-store.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** The furthest a verdict may be dated ahead of this service's clock, in milliseconds. */
export const maxAheadMs = 5 * minuteMs
/** Time from a redemption to the first poll, in milliseconds: verdicts take some minutes. */
export const firstPollMs = 10 * minuteMs
/** Time between polls of a review in flight, in milliseconds: the provider retries its webhooks for a day. */
export const inFlightPollMs = 60 * minuteMs
/** Time from a poll without an answer, or with a doubtful one, to the next, in milliseconds. */
export const retryPollMs = minuteMs
/** Time between polls of a completed review, which may change, in milliseconds: the longest between two polls. */
export const maxPollMs = dayMs
const completedPollsForMs = 30 * dayMs

function buildReviewWithoutVerdict(reviewStatus: Review['reviewStatus']): Review {
  return { reviewStatus, reviewAnswer: null, rejectType: null, rejectLabels: [] }
}

/** The review of a subject without one. */
export const notStarted: Review = buildReviewWithoutVerdict('not_started')
/** The review after a redemption whose answer has no status: "normally init". Source: docs/interface.md 3. */
export const initialReview: Review = buildReviewWithoutVerdict('init')
/** The review of a deactivated applicant: not approved, and it may be activated again. */
const deactivatedReview: Review = buildReviewWithoutVerdict('onHold')

export function isRejected(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'RED'
}

export function isApproved(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'GREEN'
}

/** The review in the answer to the donor, or null. A deactivated applicant is not approved. */
export function toShownReview({ review, presence }: Pick<Verification, 'review' | 'presence'>): Review | null {
  return review !== null && presence?.isActive === false && !isRejected(review) ? deactivatedReview : review
}

type TimedReview = Pick<Verification, 'review' | 'reviewedAt'>

/** Whether a report is of another level than the attached one; an unnamed level never differs. */
export function isOtherLevel(
  attachedLevel: string | null,
  { levelName = null }: { readonly levelName?: string | null | undefined },
): boolean {
  return attachedLevel !== null && levelName !== null && levelName !== attachedLevel
}

/** Whether a time is so far ahead that later verdicts would seem older. */
export function isDatedAhead(at: number, now: number): boolean {
  return at > now + maxAheadMs
}

/** The time of a verdict; null when it is dated ahead. */
export function discardFutureTime(at: number | null, now: number): number | null {
  return at !== null && isDatedAhead(at, now) ? null : at
}

/** Negative: the reported review is older than the stored one. Of two at the same time the worse one counts. */
export function compareReviews(reported: TimedReview, stored: TimedReview): number {
  if (stored.reviewedAt === null || reported.reviewedAt === null) return 1
  if (reported.reviewedAt !== stored.reviewedAt) return reported.reviewedAt - stored.reviewedAt
  const [one, other] = [toSortKey(reported.review), toSortKey(stored.review)]
  return one === other ? 0 : one < other ? -1 : 1
}

/** Whether an approval would replace a rejection without proof that it is newer. */
export function isDoubtful(reported: TimedReview, stored: TimedReview): boolean {
  if (!isRejected(stored.review) || !isApproved(reported.review)) return false
  return reported.reviewedAt === null || stored.reviewedAt === null || reported.reviewedAt <= stored.reviewedAt
}

/** Whether a review without a verdict follows one with a verdict: a late webhook looks the same. */
export function isRegression(before: Review | null, after: Review | null): boolean {
  return before?.reviewStatus === 'completed' && after !== null && after.reviewStatus !== 'completed'
}

export function isSameReview(one: Review | null, other: Review | null): boolean {
  return toSortKey(one) === toSortKey(other)
}

/** Milliseconds until the next poll; null: there is none. @param ageMs - The age of the verdict. */
export function computeNextPollMs({ reviewStatus }: Pick<Review, 'reviewStatus'>, ageMs: number): number | null {
  if (reviewStatus !== 'completed') return inFlightPollMs
  return ageMs < completedPollsForMs ? maxPollMs : null
}

/** Equal for equal reviews; of two reviews, the worse one has the greater key. */
function toSortKey(review: Review | null): string {
  const weight = isRejected(review) ? 2 : isApproved(review) ? 1 : 0
  const { reviewStatus, reviewAnswer, rejectType, rejectLabels } = review ?? {}
  return JSON.stringify([weight, reviewStatus, reviewAnswer, rejectType, rejectLabels])
}
