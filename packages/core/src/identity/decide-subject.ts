/** Decides what a share does to a person's verification. Source: docs/interface.md 3 (KYC attachment). @module */
import type { Review } from '../ports/identity-provider.js'
import type { RedemptionRecord, ShareOutcome, Subject } from '../ports/store-identity.js'
import { isRejected, notStarted, reviewToAnswer } from './reviews.js'

/** What is known of a person. */
export interface ShareFacts {
  /** The open subject of the address: what is redeemed is for this one. */
  readonly open: Subject
  /** All subjects of the person, in the order in which they were made. */
  readonly subjects: readonly Subject[]
  /** The person's redemptions that may have used their token although nobody knows. */
  readonly redemptions: readonly RedemptionRecord[]
  /** The integration that shares. */
  readonly caller: string
  /** Names that this request looked up without finding anybody. */
  readonly lookedUp: ReadonlySet<string>
}

/** What to do. `outcome` is for the log. */
export type ShareDecision =
  /** Redeem the token: there is no verification, or the caller's was rejected or is gone. */
  | { readonly kind: 'redeem' }
  /** Look these names up first. */
  | { readonly kind: 'look_up'; readonly redemptions: readonly RedemptionRecord[] }
  /** Answer the review with `reused: false`, and leave the token alone. */
  | {
      readonly kind: 'answer'
      readonly review: Review
      readonly outcome: Extract<ShareOutcome, 'already_approved' | 'in_flight' | 'concurrent'>
    }
  /** Somebody else's verification: 409, the same whatever its status. */
  | { readonly kind: 'conflict'; readonly outcome: 'not_donated' }
  /** Nobody knows whether a token was used: 503. */
  | { readonly kind: 'unavailable'; readonly outcome: Extract<ShareOutcome, 'unknown' | 'unresolved'> }

/**
 * Decides. A verification of another donor is 409 before anything else, so that its redemptions show nothing. While a
 * redemption has its lease it may land, so no second token of the person is redeemed. An integration whose answer was
 * lost is never answered that its token was left alone.
 */
export function decideSubject({ open, subjects, redemptions, caller, lookedUp }: ShareFacts): ShareDecision {
  if (subjects.some(({ emailKey }) => emailKey === null)) return { kind: 'conflict', outcome: 'not_donated' }
  const resolved = resolveVerification(open, subjects)
  if (resolved !== null && resolved.donor !== caller) return { kind: 'conflict', outcome: 'not_donated' }
  const review = resolved === null ? null : reviewToAnswer(resolved)

  const leased = redemptions.filter(isInFlight)
  if (leased.some(({ state, integrationAddress: by }) => state === 'unknown' && by === caller))
    return { kind: 'unavailable', outcome: 'unknown' }
  if (leased.length > 0) return { kind: 'answer', review: review ?? notStarted, outcome: 'concurrent' }

  const unknown = redemptions.filter(({ state }) => state !== 'absent')
  const unasked = (each: RedemptionRecord) => !lookedUp.has(each.externalUserId)
  if (unknown.some(unasked)) return { kind: 'look_up', redemptions: redemptions.filter(unasked) }
  if (unknown.length > 0) return { kind: 'unavailable', outcome: 'unresolved' }

  if (review !== null && !isRejected(review))
    return { kind: 'answer', review, outcome: review.reviewStatus === 'completed' ? 'already_approved' : 'in_flight' }
  // Nobody had these names: they are looked up once more before another token is redeemed.
  const absent = redemptions.filter(unasked)
  return absent.length > 0 ? { kind: 'look_up', redemptions: absent } : { kind: 'redeem' }
}

/** The subject whose verification counts for a person: the open one, else the one attached last, or null. */
export function resolveVerification(open: Subject, subjects: readonly Subject[]): Subject | null {
  if (open.donor !== null) return open
  let newest: Subject | null = null
  for (const each of subjects)
    if (each.donor !== null && (newest === null || (each.attachedAt ?? 0) >= (newest.attachedAt ?? 0))) newest = each
  return newest
}

/** Whether a token may still be on its way. */
export function isInFlight({ state, isLeased }: Pick<RedemptionRecord, 'state' | 'isLeased'>): boolean {
  return isLeased && (state === 'in_flight' || state === 'unknown')
}

/** The open subject of an address. */
export function openOf(subjects: readonly Subject[], emailKey: string): Subject | null {
  return subjects.find((each) => each.emailKey === emailKey && !each.closed) ?? null
}

/** All subjects of the person of `open`, of those that are locked. */
export function personOf(open: Subject, locked: readonly Subject[]): Subject[] {
  const rest = locked.filter(({ id }) => id !== open.id)
  if (open.accountId === null) return [open]
  const all =
    rest.length === locked.length ? [...locked, open] : locked.map((each) => (each.id === open.id ? open : each))
  return all.filter(({ accountId }) => accountId === open.accountId)
}
