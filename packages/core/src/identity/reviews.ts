/** Orders reviews, schedules their polls, and decides what a share does. Source: docs/interface.md 3. @module */
import type { Review } from '../ports/identity.js'
import type { IdentitySubject, RedemptionRecord, ShareOutcome, Verification } from './identity-store.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** How far ahead of this service's clock a verdict may be dated, in milliseconds. */
export const maxAheadMs = 5 * minuteMs
/** Time from a redemption to the first poll, in milliseconds: verdicts take some minutes. */
export const firstPollMs = 10 * minuteMs
/** Time between polls of a review in flight, in milliseconds: the provider retries its webhooks for a day. */
export const inFlightPollMs = 60 * minuteMs
/** Time from a poll without an answer, or with a doubtful one, to the next, in milliseconds. */
export const retryPollMs = minuteMs
/** A verdict may change: it is polled once a day for a month. */
const completedPollMs = dayMs
/** The longest time between two polls, in milliseconds. */
export const longestPollMs = completedPollMs
const completedPollsForMs = 30 * dayMs

function buildUndecidedReview(reviewStatus: Review['reviewStatus']): Review {
  return { reviewStatus, reviewAnswer: null, rejectType: null, rejectLabels: [] }
}

/** The answer without a review. */
export const notStarted: Review = buildUndecidedReview('not_started')
/** The review after a redemption without a status: "normally init". Source: docs/interface.md 3. */
export const initialReview: Review = buildUndecidedReview('init')
/** The review of a deactivated applicant: not approved, and it may be activated again. */
const deactivatedReview: Review = buildUndecidedReview('onHold')

export function isRejected(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'RED'
}

export function isApproved(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'GREEN'
}

/** The review in the answer to the donor, or null. A deactivated applicant is not approved. */
export function reviewToAnswer({ review, presence }: Pick<Verification, 'review' | 'presence'>): Review | null {
  return review !== null && presence?.isActive === false && !isRejected(review) ? deactivatedReview : review
}

interface TimedReview {
  readonly at: number | null
  readonly review: Review | null
}

/** Whether a report is of another level than the attached one. A level that is not named never differs. */
export function isOtherLevel(
  attachedLevel: string | null,
  { levelName = null }: { readonly levelName?: string | null | undefined },
): boolean {
  return attachedLevel !== null && levelName !== null && levelName !== attachedLevel
}

/** Whether a time is so far ahead of this service's clock that later verdicts would seem older. */
export function isDatedAhead(at: number, now: number): boolean {
  return at > now + maxAheadMs
}

/** A verdict's time; null when it is ahead of this service's clock. */
export function discardFutureTime(at: number | null, now: number): number | null {
  return at !== null && isDatedAhead(at, now) ? null : at
}

/** Negative: `review` is older than `known`. Of two at the same time the worse one counts, in any order. */
export function compareReviews(review: TimedReview, known: TimedReview): number {
  if (known.at === null || review.at === null) return 1
  if (review.at !== known.at) return review.at - known.at
  const [one, other] = [toSortKey(review.review), toSortKey(known.review)]
  return one === other ? 0 : one < other ? -1 : 1
}

/** Whether an approval would replace a rejection without proof that it is newer. */
export function isDoubtful(review: TimedReview, known: TimedReview): boolean {
  if (!isRejected(known.review) || !isApproved(review.review)) return false
  return review.at === null || known.at === null || review.at <= known.at
}

/** Whether a review without a verdict follows a verdict: a late webhook looks the same. */
export function isRegression(before: Review | null, after: Review | null): boolean {
  return before?.reviewStatus === 'completed' && after !== null && after.reviewStatus !== 'completed'
}

export function isSameReview(one: Review | null, other: Review | null): boolean {
  return JSON.stringify(listFields(one)) === JSON.stringify(listFields(other))
}

/** Milliseconds until the next poll; null: there is none. @param ageMs - The age of the verdict. */
export function nextPollMs({ reviewStatus }: Pick<Review, 'reviewStatus'>, ageMs: number): number | null {
  if (reviewStatus !== 'completed') return inFlightPollMs
  return ageMs < completedPollsForMs ? completedPollMs : null
}

function toSortKey(review: Review | null): string {
  const weight = isRejected(review) ? 2 : isApproved(review) ? 1 : 0
  return `${weight} ${JSON.stringify(listFields(review))}`
}

function listFields(review: Review | null): readonly unknown[] | null {
  return review && [review.reviewStatus, review.reviewAnswer, review.rejectType, review.rejectLabels]
}

interface ShareFacts {
  /** The open subject of the address: a redemption is for this one. */
  readonly open: IdentitySubject
  /** All subjects of the person, oldest first. */
  readonly subjects: readonly IdentitySubject[]
  /** The person's redemptions in flight or with an unknown outcome. */
  readonly redemptions: readonly RedemptionRecord[]
  readonly caller: string
  /** Names that this request looked up and did not find. */
  readonly lookedUp: ReadonlySet<string>
}

/** `outcome` is for the log. */
export type ShareDecision =
  /** Redeem the token: there is no verification, or the caller's is rejected or gone. */
  | { readonly kind: 'redeem' }
  /** Look these names up first. */
  | { readonly kind: 'look_up'; readonly redemptions: readonly RedemptionRecord[] }
  /** Answer the review with `reused: false`; the token is not redeemed. */
  | {
      readonly kind: 'answer'
      readonly review: Review
      readonly outcome: Extract<ShareOutcome, 'already_approved' | 'in_flight' | 'concurrent'>
    }
  /** A verification of another donor: 409 for any status. */
  | { readonly kind: 'conflict'; readonly outcome: 'not_donated' }
  /** A redemption with an unknown outcome: 503. */
  | { readonly kind: 'unavailable'; readonly outcome: Extract<ShareOutcome, 'unknown' | 'unresolved'> }

/**
 * Decides what a share does. A verification of another donor is 409 before all else, so that its redemptions reveal
 * nothing. While a redemption has its lease it may still land, so no second token of the person is redeemed. A caller
 * with an unknown outcome of its own gets 503, because its token may have been redeemed.
 */
export function decideShare({ open, subjects, redemptions, caller, lookedUp }: ShareFacts): ShareDecision {
  if (subjects.some(({ emailKey }) => emailKey === null)) return { kind: 'conflict', outcome: 'not_donated' }
  const resolved = resolveVerification(open, subjects)
  if (resolved !== null && resolved.donor !== caller) return { kind: 'conflict', outcome: 'not_donated' }
  const review = resolved === null ? null : reviewToAnswer(resolved)

  const leased = redemptions.filter(isInFlight)
  if (leased.some(({ state, integrationAddress: by }) => state === 'unknown' && by === caller))
    return { kind: 'unavailable', outcome: 'unknown' }
  if (leased.length > 0) return { kind: 'answer', review: review ?? notStarted, outcome: 'concurrent' }

  const unknown = redemptions.filter(({ state }) => state !== 'absent')
  const isNotLookedUp = (each: RedemptionRecord) => !lookedUp.has(each.externalUserId)
  if (unknown.some(isNotLookedUp)) return { kind: 'look_up', redemptions: redemptions.filter(isNotLookedUp) }
  if (unknown.length > 0) return { kind: 'unavailable', outcome: 'unresolved' }

  if (review !== null && !isRejected(review))
    return { kind: 'answer', review, outcome: review.reviewStatus === 'completed' ? 'already_approved' : 'in_flight' }
  // Absent names are looked up once more before another token is redeemed.
  const absent = redemptions.filter(isNotLookedUp)
  return absent.length > 0 ? { kind: 'look_up', redemptions: absent } : { kind: 'redeem' }
}

/** The subject whose verification counts for a person: the open one, else the one attached last, or null. */
export function resolveVerification(
  open: IdentitySubject,
  subjects: readonly IdentitySubject[],
): IdentitySubject | null {
  if (open.donor !== null) return open
  let newest: IdentitySubject | null = null
  for (const each of subjects)
    if (each.donor !== null && (newest === null || (each.attachedAt ?? 0) >= (newest.attachedAt ?? 0))) newest = each
  return newest
}

/** Whether a token may still be redeemed at the provider. */
export function isInFlight({ state, isLeased }: Pick<RedemptionRecord, 'state' | 'isLeased'>): boolean {
  return isLeased && (state === 'in_flight' || state === 'unknown')
}

export function findOpenSubject(subjects: readonly IdentitySubject[], emailKey: string): IdentitySubject | null {
  return subjects.find((each) => each.emailKey === emailKey && !each.closed) ?? null
}

/** All locked subjects of the person of `open`. */
export function selectPerson(open: IdentitySubject, locked: readonly IdentitySubject[]): IdentitySubject[] {
  const otherSubjects = locked.filter(({ id }) => id !== open.id)
  if (open.accountId === null) return [open]
  const all =
    otherSubjects.length === locked.length
      ? [...locked, open]
      : locked.map((each) => (each.id === open.id ? open : each))
  return all.filter(({ accountId }) => accountId === open.accountId)
}
