/** What a share request does to a verification. Source: INTERFACE 3 (KYC attachment transitions). @module */
import type { Review } from '../ports/identity-provider.js'
import type { Verification } from '../ports/store-verifications.js'

/** What to do. */
export type ShareDecision =
  /** Redeem the token: there is no verification, or the caller's was rejected or is gone. */
  | { readonly kind: 'redeem' }
  /** A claim lapsed, and nobody knows what became of its token: ask the provider first. */
  | { readonly kind: 'resolve' }
  /** Answer where it stands, `reused: false`, and leave the token alone. */
  | {
      readonly kind: 'answer'
      readonly review: Review
      readonly outcome: 'already_approved' | 'in_flight' | 'concurrent'
    }
  /** Somebody else's verification: 409, the same whatever its status. */
  | { readonly kind: 'not_donated' }

function openReview(reviewStatus: Review['reviewStatus']): Review {
  return { reviewStatus, reviewAnswer: null, rejectType: null, rejectLabels: [] }
}

/** The answer where nothing is known yet. */
export const notStarted: Review = openReview('not_started')

/** The provider often answers a redemption without a status: the checks have begun. Source: INTERFACE 3 ("normally answers init"). */
export const begunReview: Review = openReview('init')

/** An applicant that is switched off is not approved, and may be switched on again. */
const switchedOff: Review = openReview('onHold')

/** Whether a verification was rejected: a fresh token may be redeemed. */
export function isRejected(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'RED'
}

/** The review as it is told: one of an applicant that is switched off approves nothing. Null: there is none. */
export function reviewToTell({ review, presence }: Pick<Verification, 'review' | 'presence'>): Review | null {
  return review !== null && presence?.isActive === false && !isRejected(review) ? switchedOff : review
}

/**
 * Decides. A verification of another donor is 409 before anything else, so that a claim on it tells nothing; a claim of another request that
 * runs answers what is known to the caller so far.
 */
export function decideShare(verification: Verification, caller: string): ShareDecision {
  const { donor, claim } = verification
  if (donor !== null && donor !== caller) return { kind: 'not_donated' }
  if (claim?.lapsed === true) return { kind: 'resolve' }
  const review = reviewToTell(verification)
  if (claim !== null) return { kind: 'answer', review: review ?? notStarted, outcome: 'concurrent' }
  if (donor === null || review === null || isRejected(review)) return { kind: 'redeem' }
  return { kind: 'answer', review, outcome: review.reviewStatus === 'completed' ? 'already_approved' : 'in_flight' }
}
