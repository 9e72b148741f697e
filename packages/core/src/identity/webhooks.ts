/** Applies webhooks of the provider, and direct verifications. Source: docs/interface.md 3, 6. @module */
import type { Review } from '../ports/identity.js'
import type { IdSource } from '../ports/runtime.js'
import type { StoreTransaction } from '../ports/store.js'
import { mayStillRedeem } from './decide-share.js'
import type { IdentitySubject, RedemptionRecord, VerificationChange } from './identity-store.js'
import {
  attachApplicant,
  clockSkewMs,
  findMisfit,
  type IdentityParts,
  lockSubject,
  maxLookUps,
  mayHaveApplicant,
  nothingReported,
  otherLevelMessage,
} from './redemption.js'
import {
  compareReviews,
  computeNextPollMs,
  discardFutureTime,
  isApproved,
  isDatedAhead,
  isDoubtful,
  isOtherLevel,
  isRegression,
} from './reviews.js'

/** A webhook of the provider about an applicant. */
export interface ProviderVerdict {
  /** Equal for every copy of a webhook. */
  readonly eventKey: string
  readonly applicantId: string
  readonly externalUserId: string | null
  /** The provider's time in unix milliseconds. */
  readonly at: number
  /** The review; null: the event has none. */
  readonly review: Review | null
  /** The level of the applicant; null: the event names none. @default null */
  readonly levelName?: string | null | undefined
  /** The kind of the change. @default 'review'; without a review 'deleted' */
  readonly change?: 'review' | 'activated' | 'deactivated' | 'deleted' | undefined
}

/**
 * The outcome of a verdict. `older`, `doubtful`: the provider is polled at once. `unknown`: unknown applicant.
 * `other_level`: the review is of another level than the attached one.
 */
export type VerdictOutcome = 'applied' | 'duplicate' | 'older' | 'doubtful' | 'unknown' | 'other_level'

export interface DirectVerification {
  readonly accountId: string
  /** The applicant at the provider, whose verdicts are polled; null: none is polled. */
  readonly applicantId: string | null
  readonly review: Review
  /** The provider's time of the review, in unix milliseconds. */
  readonly at: number
}

/** `busy`: a redemption of the person is in flight; retry. `kept`: the stored verification stays. */
export type DirectDecision = 'recorded' | 'kept' | 'busy'

/** A newer direct verification stays. If there is no direct one, an approved shared one stays. */
export function decideDirect(
  subjects: readonly Pick<IdentitySubject, 'emailKey' | 'review' | 'reviewedAt'>[],
  { at, isBusy }: { readonly at: number; readonly isBusy: boolean },
): DirectDecision {
  if (isBusy) return 'busy'
  const direct = subjects.find(({ emailKey }) => emailKey === null)
  if (direct !== undefined) return direct.reviewedAt !== null && direct.reviewedAt > at ? 'kept' : 'recorded'
  return subjects.some(({ review }) => isApproved(review)) ? 'kept' : 'recorded'
}

/** After a direct verification, every share that resolves to the account is answered 409. */
export function createRecordDirectVerification(
  { store, clock }: Pick<IdentityParts, 'store' | 'clock'>,
  ids: IdSource,
) {
  return ({ accountId, applicantId, review, at }: DirectVerification): Promise<DirectDecision> =>
    store.transaction(async ({ identity, identityAccounts }) => {
      const subjects = await identity.lockPersons({ accountIds: [accountId] })
      const now = clock.now()
      const subjectIds = subjects.map(({ id }) => id)
      const openRedemptions = await identity.openRedemptions({ subjectIds, absentSince: now, limit: maxLookUps })
      const decision = decideDirect(subjects, { at, isBusy: openRedemptions.some(mayStillRedeem) })
      if (decision !== 'recorded') return decision
      const directSubject = { emailKey: null, email: null, accountId, proved: false }
      const existing = subjects.find(({ emailKey }) => emailKey === null)
      const { id } = existing ?? (await identity.insertSubject({ id: ids.next(), ...directSubject }))
      const pollInMs = applicantId === null ? null : computeNextPollMs(review, now - at)
      const verification = { applicantId, review, reviewedAt: at, attachedAt: now, ...nothingReported, pollInMs }
      await identity.changeVerification(id, verification)
      const noFacts = { emailKey: null, proof: null, by: null, reason: null }
      await identityAccounts.log({ at: now, action: 'verified', accountId, ...noFacts })
      return decision
    })
}

type Verdict = ProviderVerdict & { readonly change: NonNullable<ProviderVerdict['change']> }

interface VerdictJudgment {
  readonly outcome: 'applied' | 'older' | 'doubtful'
  readonly change: VerificationChange
}

/** Applies each webhook once, to an attached applicant. A webhook for an open redemption attaches its applicant. */
export function createApplyVerdict(parts: Omit<IdentityParts, 'provider'>) {
  const { store, clock, logger } = parts

  return (input: ProviderVerdict): Promise<VerdictOutcome> =>
    store.transaction(async (tx) => {
      const { identity } = tx
      const verdict: Verdict = { ...input, change: input.change ?? (input.review === null ? 'deleted' : 'review') }
      const { externalUserId, applicantId, eventKey, at, review, change } = verdict
      const named = externalUserId === null ? null : await identity.redemption(externalUserId)
      const subjectId = (await identity.findSubjectByApplicant(applicantId))?.id ?? named?.subjectId
      if (subjectId === undefined) return 'unknown'
      const subject = await lockSubject(tx, subjectId)
      const isAttached = subject.applicantId === applicantId
      const redemption = named === null ? null : await identity.redemption(named.externalUserId)
      const now = clock.now()
      const ids = { subjectId, applicantId }
      const report = { notedAt: now, ...ids, source: 'webhook', change, at, review } as const
      if (isDatedAhead(at, now)) {
        logger.warn(
          { applicantId, aheadMs: at - now },
          'A verdict is dated ahead of this clock. It is not applied; the provider is polled. Check both clocks.',
        )
        if (isAttached || redemption === null) await identity.changeVerification(subjectId, { pollInMs: 0 })
        else if (mayHaveApplicant(redemption.state))
          await identity.changeRedemption(redemption.externalUserId, { lookUpInMs: 0 })
        // The event is not recorded, so that a copy is judged again.
        await identity.recordVerdict({ ...report, outcome: 'doubtful' })
        return 'doubtful'
      }
      if (!isAttached) return attachReported(tx, redemption, verdict)
      if (!(await identity.recordEvent(eventKey, at))) return 'duplicate'
      const attached = review === null ? null : await identity.findAttachedRedemption(applicantId)
      const hasOtherLevel = attached !== null && isOtherLevel(attached.levelName, verdict)
      const levels = { levelName: verdict.levelName, attachedLevel: attached?.levelName }
      if (hasOtherLevel) logger.warn({ ...ids, ...levels }, otherLevelMessage)
      const judged = judgeVerdict(subject, hasOtherLevel ? { ...verdict, review: null } : verdict, now)
      if (Object.keys(judged.change).length > 0) await identity.changeVerification(subjectId, judged.change)
      const outcome = hasOtherLevel ? 'other_level' : judged.outcome
      await identity.recordVerdict({ ...report, outcome })
      return outcome
    })

  /** A review of an applicant that is not attached proves that its token was redeemed. */
  async function attachReported(
    tx: StoreTransaction,
    redemption: RedemptionRecord | null,
    { applicantId, review, at, eventKey, levelName, change }: Verdict,
  ): Promise<VerdictOutcome> {
    const isReview = review !== null && ['review', 'activated'].includes(change)
    if (redemption === null || !mayHaveApplicant(redemption.state) || !isReview) return 'unknown'
    // An applicant from before the redemption does not come from it.
    if (at < redemption.startedAt - clockSkewMs) return 'unknown'
    if (findMisfit(redemption, { applicantId, levelName }, logger) !== null) return 'unknown'
    if (!(await tx.identity.recordEvent(eventKey, at))) return 'duplicate'
    const applicant = { applicantId, review, reviewedAt: at, levelName }
    const { isAttached } = await attachApplicant(tx, { redemption, applicant, outcome: 'reported' }, parts)
    return isAttached ? 'applied' : 'unknown'
  }
}

function judgeVerdict(subject: IdentitySubject, verdict: Verdict, now: number): VerdictJudgment {
  const { change, at } = verdict
  if (change === 'deleted') {
    const { since = now, confirmed = false } = subject.missing ?? {}
    // The deletion may be of another environment, so a poll must confirm it.
    return { outcome: 'applied', change: { missing: { since, reported: true, confirmed }, pollInMs: 0 } }
  }
  const judged = judgeReview(subject, verdict, now)
  if (change === 'review') return judged
  if (subject.presence !== null && subject.presence.at >= at) return { outcome: 'older', change: { pollInMs: 0 } }
  return { ...judged, change: { ...judged.change, presence: { isActive: change === 'activated', at } } }
}

function judgeReview(subject: IdentitySubject, { at, review }: Verdict, now: number): VerdictJudgment {
  if (review === null) return { outcome: 'applied', change: {} }
  const reported = { review, reviewedAt: at }
  // A clock that was ahead may have written the stored time: later verdicts would seem older.
  const stored = { review: subject.review, reviewedAt: discardFutureTime(subject.reviewedAt, now) }
  // The report may still be newer: clocks differ, and the stored time may be that of a poll. So a poll decides.
  if (compareReviews(reported, stored) < 0) return { outcome: 'older', change: { pollInMs: 0 } }
  if (isDoubtful(reported, stored)) return { outcome: 'doubtful', change: { pollInMs: 0 } }
  const isUnsure = at === subject.reviewedAt || isRegression(subject.review, review)
  const pollInMs = isUnsure ? 0 : computeNextPollMs(review, now - at)
  return { outcome: 'applied', change: { review, reviewedAt: at, doubt: null, missing: null, pollInMs } }
}
