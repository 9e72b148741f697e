/** What a share request does to a verification. Source: INTERFACE 3 (KYC attachment transitions). @module */
import type { Review } from '../ports/identity-provider.js'
import type { Verification } from '../ports/store-verifications.js'

/** What to do. */
export type ShareDecision =
  /** Redeem the token: there is no verification, or the caller's was rejected. */
  | { readonly kind: 'redeem' }
  /** A redemption was begun and nobody knows how it ended: ask the provider first. */
  | { readonly kind: 'resolve'; readonly externalUserId: string; readonly by: string }
  /** Answer where it stands, `reused: false`, and leave the token alone. */
  | {
      readonly kind: 'answer'
      readonly review: Review
      readonly outcome: 'already_approved' | 'in_flight' | 'concurrent'
    }
  /** Somebody else's verification: 409, the same whatever its status. */
  | { readonly kind: 'not_donated' }

/** The answer where nothing is known yet. */
export const notStarted: Review = {
  reviewStatus: 'not_started',
  reviewAnswer: null,
  rejectType: null,
  rejectLabels: [],
}

/**
 * Decides. A verification of another donor is 409 before anything else, so that a claim on it tells nothing; a claim of another request that
 * runs answers what is known to the caller so far.
 */
export function decideShare({ donor, review, claim }: Verification, caller: string): ShareDecision {
  if (donor !== null && donor !== caller) return { kind: 'not_donated' }
  if (claim?.lapsed === true) return { kind: 'resolve', externalUserId: claim.externalUserId, by: claim.by }
  if (claim !== null) return { kind: 'answer', review: review ?? notStarted, outcome: 'concurrent' }
  if (donor === null || review === null) return { kind: 'redeem' }
  if (review.reviewStatus !== 'completed') return { kind: 'answer', review, outcome: 'in_flight' }
  return review.reviewAnswer === 'RED' ? { kind: 'redeem' } : { kind: 'answer', review, outcome: 'already_approved' }
}
