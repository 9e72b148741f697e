/** Names redemptions, looks up their applicants and attaches them. Source: docs/decisions/identity.md. @module */
import type { Applicant, IdentityProvider } from '../ports/identity.js'
import type { Clock, Logger } from '../ports/runtime.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import { logFailure, type ProviderFailure } from './checked-provider.js'
import type {
  IdentitySubject,
  NewRedemption,
  RedemptionRecord,
  RedemptionState,
  ShareOutcome,
  ShareRecord,
  VerdictRecord,
} from './identity-store.js'
import { discardFutureTime, firstPollMs, initialReview, isOtherLevel, notStarted, toShownReview } from './reviews.js'

export interface IdentityParts {
  readonly store: Pick<Store, 'transaction' | 'identity'>
  readonly provider: Pick<IdentityProvider, 'find' | 'review'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

// Durations in milliseconds.
/**
 * Longest time from the signature of a redemption until the provider carries it out. The provider rejects a signature
 * whose time is over a minute from its own; 30 s are for clock skew and processing.
 */
export const redemptionWindowMs = 90_000
/** Duration of a lease: a request signed in its first 30 s is carried out before its end. */
export const redemptionLeaseMs = redemptionWindowMs + 30_000
/** Largest clock skew with which the provider accepts signatures. */
export const clockSkewMs = 60_000
/** Time from an unknown outcome to the first look-up. */
export const firstLookUpMs = 5_000
/** Time from a look-up without an answer to the next. */
export const retryLookUpMs = 60_000
/** Time between look-ups for an absent or unresolved redemption. */
export const absentLookUpMs = 60 * 60_000
/** How long the applicant of an absent redemption is looked up. */
export const absentLookUpsForMs = 24 * 60 * 60_000

/** The maximum number of redemptions of one person whose applicants one request looks up. */
export const maxLookUps = 10

export const defaultNamespace = 'pi'

/** Checks the namespace, which separates services and environments under one client of the provider. */
export function checkNamespace(namespace: string): string {
  if (/^[A-Za-z0-9._-]{1,32}$/.test(namespace)) return namespace
  throw new TypeError(
    `The namespace of applicants is ${JSON.stringify(namespace)}; pass 1 to 32 letters, digits, dots, dashes or underscores.`,
  )
}

/** The external user id of a redemption's applicant; no two redemptions share one. @param number - From 1. */
export function formatExternalUserId(namespace: string, subjectId: string, number: number): string {
  return `${namespace}:${subjectId}:${number}`
}

/** Adds to the log of shares; without `externalUserId` the share has no redemption. */
export function logShare(
  { identity }: StoreTransaction,
  at: number,
  sharer: Pick<ShareRecord, 'integrationAddress' | 'subjectId'> & Partial<Pick<ShareRecord, 'externalUserId'>>,
  outcome: ShareOutcome,
  providerCode: number | null = null,
): Promise<void> {
  const { integrationAddress, subjectId, externalUserId = null } = sharer
  return identity.logShare({ at, integrationAddress, subjectId, outcome, externalUserId, providerCode })
}

export const otherLevelMessage = 'A review is of another level than the attached one: not applied.'

export async function lockSubject({ identity }: StoreTransaction, subjectId: string): Promise<IdentitySubject> {
  const subject = (await identity.lockPersons({ subjectId })).find(({ id }) => id === subjectId)
  if (subject === undefined) throw new Error(`There is no subject ${subjectId}.`)
  return subject
}

/** The source of the report on an applicant, for each outcome in the log of shares. */
const reportSources = {
  redeemed: 'redemption',
  found: 'look_up',
  reported: 'webhook',
  resolved: 'operator',
} as const satisfies Partial<Record<ShareOutcome, VerdictRecord['source']>>

interface Attachment {
  readonly redemption: Omit<NewRedemption, 'leaseMs'>
  readonly applicant: Applicant
  readonly outcome: keyof typeof reportSources
}

/** Whether an applicant may be attached: no other donor, and no newer redemption is attached. */
export function isAttachable(
  { donor, attachedNumber }: Pick<IdentitySubject, 'donor' | 'attachedNumber'>,
  { integrationAddress, number }: Pick<RedemptionRecord, 'integrationAddress' | 'number'>,
): boolean {
  return donor === null || (donor === integrationAddress && number > (attachedNumber ?? 0))
}

/** The fields of a verification whose applicant is new. */
export const nothingReported = { doubt: null, presence: null, missing: null } as const

/** Attaches an applicant, or records it as surplus. Locks the person. A second call only adds to the log of shares. */
export async function attachApplicant(
  tx: StoreTransaction,
  { redemption, applicant, outcome }: Attachment,
  { clock, logger }: Pick<IdentityParts, 'clock' | 'logger'>,
) {
  const { externalUserId, subjectId, number, integrationAddress: donor } = redemption
  const { applicantId } = applicant
  const { identity } = tx
  const subject = await lockSubject(tx, subjectId)
  const before = { donor: subject.donor, review: toShownReview(subject) ?? notStarted }
  const now = clock.now()
  const storedState = (await identity.redemption(externalUserId))?.state
  // A webhook or a look-up was faster, and its verdict may be newer.
  if (storedState === 'attached' || storedState === 'surplus') {
    await logShare(tx, now, redemption, outcome)
    return { isAttached: storedState === 'attached', ...before }
  }
  const isAttached = isAttachable(subject, redemption)
  const at = discardFutureTime(applicant.reviewedAt ?? null, now)
  const hasOtherLevel = isOtherLevel(redemption.levelName, applicant)
  const levelName = redemption.levelName ?? applicant.levelName ?? null
  const state = isAttached ? 'attached' : 'surplus'
  await identity.changeRedemption(externalUserId, { state, applicantId, levelName, lookUpInMs: null })
  await logShare(tx, now, redemption, isAttached ? outcome : 'surplus')
  const outcomeIfAttached = hasOtherLevel ? 'other_level' : 'applied'
  const recorded = isAttached ? outcomeIfAttached : 'surplus'
  const report = { source: reportSources[outcome], change: 'review', at, review: applicant.review } as const
  await identity.recordVerdict({ notedAt: now, subjectId, applicantId, ...report, outcome: recorded })
  if (!isAttached) {
    const ids = { subjectId, externalUserId, applicantId }
    logger.error(ids, 'A token was redeemed for a subject with another applicant.')
    return { isAttached, ...before }
  }
  const levels = { levelName: applicant.levelName, attachedLevel: redemption.levelName }
  if (hasOtherLevel) logger.warn({ subjectId, applicantId, ...levels }, otherLevelMessage)
  const [review, reviewedAt] = hasOtherLevel ? [initialReview, null] : [applicant.review ?? initialReview, at]
  const attached = { donor, applicantId, attachedNumber: number, attachedAt: now, review, reviewedAt }
  // A verdict without a time cannot be put in order with webhooks, so it is polled at once.
  const pollInMs = review.reviewStatus === 'completed' && reviewedAt === null ? 0 : firstPollMs
  await identity.changeVerification(subjectId, { ...attached, ...nothingReported, pollInMs })
  return { isAttached, donor, review }
}

/**
 * Looks up external user ids in order and stores each answer. Stops at the first failure and resolves it; null: none
 * failed. `integrationAddress`: the integration whose request waits for the answers; absent: a poll.
 */
export async function lookUpRedemptions(
  parts: IdentityParts,
  redemptions: readonly RedemptionRecord[],
  integrationAddress?: string,
): Promise<Exclude<ProviderFailure, { kind: 'rejected' }> | null> {
  const { store, provider, logger } = parts
  for (const redemption of redemptions) {
    const { externalUserId } = redemption
    const answer = await provider.find(externalUserId, integrationAddress)
    if (answer.kind !== 'answer') {
      logFailure(logger, answer, { externalUserId })
      return answer
    }
    const misfit = answer.value === null ? null : findMisfit(redemption, answer.value, logger)
    if (misfit === 'level') return { kind: 'misconfigured', reason: 'another level' }
    const result = misfit === 'age' ? 'foreign' : (answer.value ?? 'nobody')
    await store.transaction((tx) => applyLookUp(tx, { redemption, result }, parts))
  }
  return null
}

/** Returns and logs why an applicant cannot come from a redemption; null: it can. */
export function findMisfit(
  { externalUserId, startedAt, levelName }: Pick<RedemptionRecord, 'externalUserId' | 'startedAt' | 'levelName'>,
  applicant: Pick<Applicant, 'applicantId' | 'createdAt' | 'levelName'>,
  logger: Pick<Logger, 'error'>,
): 'age' | 'level' | null {
  const { applicantId, createdAt = null } = applicant
  const isOlder = createdAt !== null && createdAt < startedAt - clockSkewMs
  const misfit = isOlder ? 'age' : isOtherLevel(levelName, applicant) ? 'level' : null
  if (misfit !== null)
    logger.error({ externalUserId, applicantId, misfit }, 'External user id is taken by an unknown applicant.')
  return misfit
}

/** Whether the provider may still know an applicant of a redemption. */
export function mayHaveApplicant(state: RedemptionState): boolean {
  return state === 'in_flight' || state === 'unknown' || state === 'unresolved' || state === 'absent'
}

/**
 * Stores the result of a look-up. A redemption that was resolved meanwhile is unchanged. `nobody`: no applicant has the
 * external user id. `foreign`: an applicant older than the redemption has it.
 */
export async function applyLookUp(
  tx: StoreTransaction,
  { redemption, result }: { readonly redemption: RedemptionRecord; readonly result: Applicant | 'nobody' | 'foreign' },
  { clock, logger }: Pick<IdentityParts, 'clock' | 'logger'>,
): Promise<void> {
  const { externalUserId, subjectId } = redemption
  await lockSubject(tx, subjectId)
  const stored = await tx.identity.redemption(externalUserId)
  if (stored === null || !mayHaveApplicant(stored.state)) return
  if (typeof result === 'object') {
    await attachApplicant(tx, { redemption, applicant: result, outcome: 'found' }, { clock, logger })
    return
  }
  const ageMs = clock.now() - redemption.startedAt
  // The token may still be redeemed, so its applicant is looked up again after the lease.
  if (redemption.isLeased) {
    const waitMs = Math.min(redemptionLeaseMs, Math.max(firstLookUpMs, redemptionLeaseMs - ageMs))
    return tx.identity.changeRedemption(externalUserId, { lookUpInMs: waitMs })
  }
  // Where applicants cannot be found by external user id, an empty look-up proves nothing.
  const absence = stored.state === 'absent' || stored.isFindable ? 'absent' : 'unresolved'
  const state = result === 'foreign' ? 'foreign' : absence
  const lookUpInMs = state === 'foreign' || (state === 'absent' && ageMs >= absentLookUpsForMs) ? null : absentLookUpMs
  await tx.identity.changeRedemption(externalUserId, { state, lookUpInMs })
  if (state === stored.state) return
  if (state === 'unresolved')
    logger.error({ externalUserId }, 'The outcome of a redemption cannot be looked up: an operator must resolve it.')
  await logShare(tx, clock.now(), redemption, state)
}
