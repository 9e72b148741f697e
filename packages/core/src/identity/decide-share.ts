/** Decides what a share does. Source: docs/interface.md 3, 4.2; docs/decisions/identity.md. @module */
import type { Review } from '../ports/identity.js'
import type { AnswerOutcome, IdentitySubject, RedemptionRecord } from './identity-store.js'
import { isRejected, notStarted, toShownReview } from './reviews.js'

interface ShareFacts {
  /** The open subject of the address, for which a token is redeemed. */
  readonly openSubject: IdentitySubject
  /** All subjects of the person; those other than `openSubject` oldest first. */
  readonly subjects: readonly IdentitySubject[]
  /** The person's redemptions in flight or with an unknown outcome. */
  readonly redemptions: readonly RedemptionRecord[]
  readonly caller: string
  /** External user ids that this request has looked up. */
  readonly lookedUp: ReadonlySet<string>
}

/** `outcome`: for the log of shares. */
export type ShareDecision =
  /** Redeem the token: the caller has no verification, or its own verification is rejected or gone. */
  | { readonly kind: 'redeem' }
  /** Look up the applicants of these redemptions first. */
  | { readonly kind: 'look_up'; readonly redemptions: readonly RedemptionRecord[] }
  /** Answer the review with `reused: false`; the token is not redeemed. */
  | { readonly kind: 'answer'; readonly review: Review; readonly outcome: AnswerOutcome }
  /** A direct verification, or one of another donor: 409. */
  | { readonly kind: 'not_donated'; readonly outcome: 'not_donated' }
  /** A redemption with an unknown outcome: 503. */
  | { readonly kind: 'unavailable'; readonly outcome: 'unknown' | 'unresolved' }

/**
 * A direct verification, or another donor's, is answered 409 first, so that the answer reveals no redemption. While a
 * redemption is leased, no second token of the person is redeemed. A caller with an unknown outcome of its own gets
 * 503, because its token may have been redeemed.
 */
export function decideShare({ openSubject, subjects, redemptions, caller, lookedUp }: ShareFacts): ShareDecision {
  if (subjects.some(({ emailKey }) => emailKey === null)) return { kind: 'not_donated', outcome: 'not_donated' }
  const donated = findSubjectThatCounts(openSubject, subjects)
  if (donated !== null && donated.donor !== caller) return { kind: 'not_donated', outcome: 'not_donated' }
  const review = donated === null ? null : toShownReview(donated)

  const leased = redemptions.filter(mayStillRedeem)
  if (leased.some(({ state, integrationAddress: by }) => state === 'unknown' && by === caller))
    return { kind: 'unavailable', outcome: 'unknown' }
  if (leased.length > 0) return { kind: 'answer', review: review ?? notStarted, outcome: 'concurrent' }

  const notAbsent = redemptions.filter(({ state }) => state !== 'absent')
  const isNotLookedUp = (each: RedemptionRecord) => !lookedUp.has(each.externalUserId)
  if (notAbsent.some(isNotLookedUp)) return { kind: 'look_up', redemptions: redemptions.filter(isNotLookedUp) }
  if (notAbsent.length > 0) return { kind: 'unavailable', outcome: 'unresolved' }

  if (review !== null && !isRejected(review))
    return { kind: 'answer', review, outcome: review.reviewStatus === 'completed' ? 'already_approved' : 'in_flight' }
  // Each absent applicant is looked up once more before another token is redeemed.
  const absent = redemptions.filter(isNotLookedUp)
  return absent.length > 0 ? { kind: 'look_up', redemptions: absent } : { kind: 'redeem' }
}

/** The subject whose verification counts for a person: the open one, else the one attached last, or null. */
export function findSubjectThatCounts(openSubject: IdentitySubject, subjects: readonly IdentitySubject[]) {
  if (openSubject.donor !== null) return openSubject
  const shared = subjects.filter(({ donor }) => donor !== null)
  return shared.sort((a, b) => (a.attachedAt ?? 0) - (b.attachedAt ?? 0)).at(-1) ?? null
}

/** Whether the provider may still redeem the token. */
export function mayStillRedeem({ state, isLeased }: Pick<RedemptionRecord, 'state' | 'isLeased'>): boolean {
  return isLeased && (state === 'in_flight' || state === 'unknown')
}
