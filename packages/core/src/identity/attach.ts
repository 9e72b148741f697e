/** Attaches an applicant to the subject of its redemption. Source: docs/interface.md 3, 4.2. @module */
import type { Applicant, Review } from '../ports/identity-provider.js'
import type { RedemptionRecord, ShareOutcome, Subject, VerdictRecord } from '../ports/store-identity.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import { type IdentityParts, lockSubject, logOtherLevel, shareEntry } from './redemption.js'
import { acceptedTime, begunReview, firstPollMs, isOtherLevel, notStarted, reviewToAnswer } from './reviews.js'

/** A redemption with its applicant, and how the service learned of it. */
export interface Attachment {
  readonly redemption: Pick<
    RedemptionRecord,
    'externalUserId' | 'subjectId' | 'number' | 'integrationAddress' | 'levelName'
  >
  readonly applicant: Applicant
  readonly outcome: Extract<ShareOutcome, 'redeemed' | 'found' | 'reported' | 'resolved'>
  readonly source: VerdictRecord['source']
}

/** The result. */
export interface Attached {
  /** False: another applicant stays attached. An operator must look. */
  readonly isAttached: boolean
  readonly donor: string | null
  /** The review of the subject's verification. */
  readonly review: Review
}

/** Whether an applicant is attached: there is no other donor, and no newer redemption is attached. */
export function mayAttach(
  { donor, attachedNumber }: Pick<Subject, 'donor' | 'attachedNumber'>,
  { integrationAddress, number }: Pick<RedemptionRecord, 'integrationAddress' | 'number'>,
): boolean {
  return donor === null || (donor === integrationAddress && number > (attachedNumber ?? 0))
}

/** Attaches an applicant or notes it as surplus, and locks the person. A second call only adds to the log of shares. */
export async function attach(
  tx: StoreTransaction,
  { redemption, applicant, outcome, source }: Attachment,
  { clock, logger }: Pick<IdentityParts, 'clock' | 'logger'>,
): Promise<Attached> {
  const { externalUserId, subjectId, number, integrationAddress: donor } = redemption
  const { applicantId } = applicant
  const { identity } = tx
  const subject = await lockSubject(tx, subjectId)
  const now = clock.now()
  const before = (await identity.redemption(externalUserId))?.state
  // A webhook or a look-up was faster; its verdict may be newer.
  if (before === 'attached' || before === 'surplus') {
    await identity.logShare(shareEntry(now, redemption, outcome))
    return { isAttached: before === 'attached', ...answerOf(subject) }
  }
  const isAttached = mayAttach(subject, redemption)
  const at = acceptedTime(applicant.reviewedAt ?? null, now)
  const isOther = isOtherLevel(redemption.levelName, applicant)
  const levelName = redemption.levelName ?? applicant.levelName ?? undefined
  const state = isAttached ? 'attached' : 'surplus'
  await identity.changeRedemption(externalUserId, { state, applicantId, levelName, lookUpInMs: null })
  await identity.logShare(shareEntry(now, redemption, isAttached ? outcome : 'surplus'))
  await identity.noteVerdict({
    ...{ notedAt: now, subjectId, applicantId, source, change: 'review', at },
    ...{ review: applicant.review, outcome: !isAttached ? 'surplus' : isOther ? 'other_level' : 'applied' },
  })
  if (!isAttached) {
    logger.error(
      { subjectId, externalUserId, applicantId },
      'A token was redeemed for a subject with another applicant.',
    )
    return { isAttached, ...answerOf(subject) }
  }
  if (isOther) logOtherLevel(logger, { subjectId, applicantId }, applicant, redemption)
  const [review, reviewedAt] = isOther ? [begunReview, null] : [applicant.review ?? begunReview, at]
  await identity.changeVerification(subjectId, {
    ...{ donor, applicantId, attachedNumber: number, attachedAt: now, review, reviewedAt },
    ...{ doubt: null, presence: null, missing: null },
    // A verdict without a time cannot be put in order with webhooks.
    pollInMs: review.reviewStatus === 'completed' && reviewedAt === null ? 0 : firstPollMs,
  })
  return { isAttached, donor, review }
}

function answerOf(subject: Subject): Pick<Attached, 'donor' | 'review'> {
  return { donor: subject.donor, review: reviewToAnswer(subject) ?? notStarted }
}
