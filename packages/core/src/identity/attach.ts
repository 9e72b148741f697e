/**
 * Attaching an applicant to an account, for the integration whose token it came from, whoever learns of it: the request itself, a look-up, a webhook or an operator.
 * Source: INTERFACE 3 (KYC attachment), 4.2 (the endpoint acts on what the caller donated).
 * @module
 */
import type { Applicant, Review } from '../ports/identity-provider.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { RedemptionAttempt, ShareOutcome, VerdictEntry, Verification } from '../ports/store-verifications.js'
import type { Logger } from '../ports/world.js'
import { logAttempt } from './attempt-log.js'
import { mayAttach } from './decide-attach.js'
import { begunReview, notStarted, reviewToTell } from './decide-share.js'
import { isFor } from './kept.js'
import { keepQuestion } from './look-up.js'
import { type HoldDeps, type Move, moveAll, ownerOf, takerOf } from './move-along.js'
import { firstQuestionMs } from './question-times.js'

/** An attempt with its applicant. */
export interface Attachment {
  readonly attempt: Pick<
    RedemptionAttempt,
    'externalUserId' | 'accountId' | 'number' | 'integrationAddress' | 'emailKey' | 'replaces'
  >
  readonly applicant: Applicant
  readonly outcome: Extract<ShareOutcome, 'redeemed' | 'found' | 'attached' | 'settled'>
  readonly source: VerdictEntry['source']
}

/** What came of it. */
export interface Attached {
  /** False: another applicant is attached and stays so. An operator must look. */
  readonly isAttached: boolean
  readonly donor: string | null
  /** Where the account's verification stands. */
  readonly review: Review
}

/** What this needs. */
export interface AttachDeps extends HoldDeps {
  readonly logger: Logger
}

/**
 * Attaches, unless another applicant is attached that may not be displaced. What is another account's by now leaves first, so that it is neither in the way nor
 * lost. Locks the account.
 * @param moves - What leaves with the addresses that the account lost: the addresses are held, the verifications locked.
 */
export async function attach(
  tx: StoreTransaction,
  attachment: Attachment,
  deps: AttachDeps,
  moves: readonly Move[],
): Promise<Attached> {
  const { attempt, applicant, outcome, source } = attachment
  const { clock, logger } = deps
  const { accountId, externalUserId } = attempt
  const { applicantId, reviewedAt = null } = applicant
  const { verifications } = tx
  const before = await verifications.lock(accountId)
  const now = clock.now()
  // A webhook, or whoever took the claim over, has attached it already, perhaps with a verdict since.
  if (before.applicantId === applicantId) {
    await logAttempt(tx, now, attempt, outcome, { externalUserId })
    return { isAttached: true, donor: before.donor, review: reviewToTell(before) ?? notStarted }
  }
  const isClaimed = before.claim?.externalUserId === externalUserId
  // The same, and its address was given to another account since, where it went along; or a newer one took its place.
  if (!isClaimed && (await verifications.redemption(externalUserId))?.state === 'attached') {
    await logAttempt(tx, now, attempt, outcome, { externalUserId })
    return {
      isAttached: true,
      ...(await toTell(tx, (await verifications.ofApplicant(applicantId)) ?? before, attachment, deps)),
    }
  }
  // A claim that lapsed has nothing on its way any more; its attempt is looked up by its name all the same.
  // So is that of a look-up: what it looks for is here, and it sends nothing without its claim.
  const isOver = isClaimed || before.claim?.lapsed === true || (await isOfLookUp(tx, before))
  const noted = moves.length === 0 ? null : await verifications.redemption(externalUserId)
  const ownerId = noted === null ? accountId : ownerOf(noted)
  const others = moves.filter(({ emailKey, toId }) => emailKey !== attempt.emailKey || toId !== ownerId)
  const found = others.length === 0 ? before : await letOthersLeave(tx, before, { isOver, others }, deps)
  // What another account has at once leaves alone what stays here.
  const taker = ownerId === accountId || found.donor === null ? null : await takerOf(tx, ownerId)
  const isTheirs = taker !== null && (await ownerOfApplicant(tx, found)) !== ownerId
  const [place, number] = isTheirs ? [taker, null] : [found, attempt.number]
  const isAttached = mayAttach(place, attempt)
  const review = applicant.review ?? begunReview
  const state = isAttached ? 'attached' : 'surplus'
  await verifications.endRedemption(externalUserId, state, applicantId)
  await logAttempt(tx, now, attempt, isAttached ? outcome : 'surplus', { externalUserId })
  await verifications.noteVerdict({
    ...{ notedAt: now, accountId: place.accountId, applicantId, source, news: 'review', at: reviewedAt },
    ...{ review: applicant.review, outcome: isAttached ? 'applied' : 'surplus' },
  })
  if (!isAttached) {
    logger.error(
      { accountId, externalUserId, applicantId },
      'A token was redeemed for an account that has another applicant.',
    )
    // Another claim goes on, and what waits for its end leaves then.
    if (isClaimed) await verifications.change(accountId, { claim: null })
    return { isAttached, ...(await toTell(tx, found, attachment, deps)) }
  }
  const donor = attempt.integrationAddress
  // Another claim goes on, and what waits for its end leaves then.
  if (isTheirs && isClaimed) await verifications.change(accountId, { claim: null })
  const claim = isTheirs || isOver ? null : found.claim
  await verifications.change(place.accountId, {
    ...{ donor, applicantId, attempt: number, review, reviewedAt },
    ...{ doubt: null, presence: null, missing: null },
    ...(claim === null ? { claim } : {}),
    ...(await keepQuestion(tx, { ...place, attempt: number, claim }, { now: () => now })),
    // A verdict without a time cannot be put in order with what webhooks say.
    askInMs: review.reviewStatus === 'completed' && reviewedAt === null ? 0 : firstQuestionMs,
  })
  return { isAttached, donor, review }
}

/** Moves what is another account's by now. A claim that is over would keep it. Resolves what the account has then. */
async function letOthersLeave(
  tx: StoreTransaction,
  { accountId }: Verification,
  { isOver, others }: { readonly isOver: boolean; readonly others: readonly Move[] },
  deps: HoldDeps,
): Promise<Verification> {
  if (isOver) await tx.verifications.change(accountId, { claim: null })
  await moveAll(tx, others, deps)
  return tx.verifications.lock(accountId)
}

/** Whose the applicant of an account is; null where no attempt is known that it came from, or there is none. */
async function ownerOfApplicant(tx: StoreTransaction, { applicantId }: Verification): Promise<string | null> {
  const attempt = applicantId === null ? null : await tx.verifications.redemptionOf(applicantId)
  return attempt === null ? null : ownerOf(attempt)
}

/** Whether a claim was made to look something up: no token is sent under its name before it is noted as an attempt. */
async function isOfLookUp(tx: StoreTransaction, { claim }: Verification): Promise<boolean> {
  return claim !== null && (await tx.verifications.redemption(claim.externalUserId)) === null
}

/**
 * What is told where another verification is there: that, unless it was shared for another address, or there is none; then the applicant's own.
 * A host with users of its own has one verification per user, whatever the address.
 */
async function toTell(
  tx: StoreTransaction,
  there: Verification,
  { attempt, applicant }: Attachment,
  { holdsAddresses = false }: Pick<AttachDeps, 'holdsAddresses'>,
): Promise<Pick<Attached, 'donor' | 'review'>> {
  const { donor } = there
  const isOther = donor === null || (holdsAddresses && !(await isFor(tx, there, attempt.emailKey)))
  if (isOther) return { donor: attempt.integrationAddress, review: applicant.review ?? begunReview }
  return { donor, review: reviewToTell(there) ?? notStarted }
}
