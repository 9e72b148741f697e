/** Closes stuck verifications and resolves redemptions for an operator. Source: docs/decisions/identity.md. @module */
import type { Audited } from '../history/audit-log.js'
import type { Applicant, ProviderAnswer } from '../ports/identity.js'
import type { StoreTransaction } from '../ports/store.js'
import { createFailureError, logFailure } from './checked-provider.js'
import { mayStillRedeem } from './decide-share.js'
import type { IdentitySubject, RedemptionRecord, VerificationChange } from './identity-store.js'
import { markGone } from './poll.js'
import { attachApplicant, type IdentityParts, lockSubject, logShare } from './redemption.js'
import { isOtherLevel, isSameReview } from './reviews.js'

export interface ResolveRequest {
  readonly externalUserId: string
  /** The applicant of the redemption; null: there is none. */
  readonly applicantId: string | null
}

export type ResolveResult = 'attached' | 'surplus' | 'absent' | ResolveRejection
/** Nothing was changed. */
type ResolveRejection = 'not_open' | 'unknown_applicant' | 'of_another_subject' | 'of_another_redemption'

export interface CloseRequest {
  readonly subjectId: string
  /** `hold`: the applicant was deactivated, and is active again. `missing`: it was deleted at the provider. */
  readonly kind: 'hold' | 'missing'
  /** Polls the provider and returns the result without a change. @default false */
  readonly dryRun?: boolean | undefined
}

/**
 * - `closed`: the hold, or the wait for a missing applicant, is closed, or with `dryRun` would be.
 * - `nothing_to_close`: the applicant is not deactivated, not missing, or counts as gone already.
 * - `changed`: the verification changed meanwhile: retry.
 * - `known`: the provider knows the missing applicant: a poll is due at once.
 * - `name_taken`: the missing applicant's external user id belongs to another applicant; see the log.
 * - `unproven`: no redemption is stored, or the provider knows no other applicant that is as old: check the tenant.
 * - `missing`: the applicant on hold is also missing: close `missing` first.
 * - `unknown`: the provider does not know the applicant on hold.
 * - `other_review`: the provider's review differs from the stored one: a poll is due at once; retry after it.
 */
export type CloseResult = 'closed' | 'nothing_to_close' | 'changed' | MissingResult | HoldResult
/** Results about a missing applicant. */
type MissingResult = 'known' | 'name_taken' | 'unproven'
/** Results about a hold. */
type HoldResult = 'missing' | 'unknown' | 'other_review'

/** Each change is audited. A call may reject with IdentityUnavailableError, IdentityMisconfiguredError, StoreError. */
export type IdentityActions = ReturnType<typeof createIdentityActions>

/** The maximum number of other applicants that are polled in search of one that the provider knows. */
const maxWitnesses = 5
const pageSize = 500

export function createIdentityActions(parts: IdentityParts & { readonly audited: Audited }) {
  const { store, provider, clock, logger, audited } = parts

  /** Resolves a redemption that is `unresolved`, or `unknown` or `in_flight` with an expired lease. */
  async function resolveRedemption({ externalUserId, applicantId }: ResolveRequest): Promise<ResolveResult> {
    const answer = applicantId === null ? null : await callProvider(provider.review(applicantId), { externalUserId })
    if (applicantId !== null && answer === null) return 'unknown_applicant'
    return audited(async (tx, note) => {
      const before = await tx.identity.redemption(externalUserId)
      if (before === null) return 'not_open'
      const { id: subjectId, emailKey } = await lockSubject(tx, before.subjectId)
      // Another request may have resolved the redemption before the lock.
      const redemption = await tx.identity.redemption(externalUserId)
      if (redemption === null || !isResolvable(redemption)) return 'not_open'
      const holder = applicantId === null ? null : await tx.identity.findSubjectByApplicant(applicantId)
      if (holder !== null) return holder.id === subjectId ? 'of_another_redemption' : 'of_another_subject'
      const applicant = answer && applicantId !== null ? { ...answer, applicantId } : null
      const outcome = await storeResolution(tx, redemption, applicant)
      const details = { outcome, applicantId, integrationAddress: redemption.integrationAddress, emailKey }
      note({ action: 'identity.redemption_resolved', subject: externalUserId, details })
      return outcome
    })
  }

  async function storeResolution(tx: StoreTransaction, redemption: RedemptionRecord, applicant: Applicant | null) {
    if (applicant !== null) {
      const { isAttached } = await attachApplicant(tx, { redemption, applicant, outcome: 'resolved' }, parts)
      return isAttached ? 'attached' : 'surplus'
    }
    // `unused` ends the look-ups: an absent applicant would be looked up for another day.
    const state = redemption.isFindable ? 'unused' : 'absent'
    await tx.identity.changeRedemption(redemption.externalUserId, { state, lookUpInMs: null })
    await logShare(tx, clock.now(), redemption, 'resolved')
    return 'absent'
  }

  /**
   * Closes a hold if the review is unchanged. Closes a missing applicant if the provider does not know this applicant,
   * but knows another one that is as old.
   */
  async function closeVerification({ subjectId, kind, dryRun = false }: CloseRequest): Promise<CloseResult> {
    const [subject] = await store.identity.subjects({ id: subjectId, limit: 1 })
    const applicantId = subject?.applicantId ?? null
    if (subject === undefined || applicantId === null || !isClosable(kind, subject)) return 'nothing_to_close'
    const judged = await (kind === 'hold' ? judgeHold : judgeMissing)(subject, applicantId)
    if (dryRun) return judged
    if (judged === 'closed') return closeHoldOrMissing(subject, applicantId, kind)
    if (judged === 'known' || judged === 'other_review')
      await store.transaction(async (tx) => {
        await lockSubject(tx, subjectId)
        await tx.identity.changeVerification(subjectId, { pollInMs: 0 })
      })
    return judged
  }

  /** A hold hides the review, which is shown again only if the provider still answers the same one. */
  async function judgeHold({ missing, review }: IdentitySubject, applicantId: string): Promise<CloseResult> {
    if (missing !== null) return 'missing'
    const answer = await callProvider(provider.review(applicantId), { applicantId })
    if (answer === null) return 'unknown'
    const levelName = (await findRedemption(applicantId))?.levelName ?? null
    return isSameReview(answer.review, review) && !isOtherLevel(levelName, answer) ? 'closed' : 'other_review'
  }

  async function judgeMissing({ emailKey, reviewedAt }: IdentitySubject, applicantId: string): Promise<CloseResult> {
    if ((await callProvider(provider.review(applicantId), { applicantId })) !== null) return 'known'
    const redemption = await findRedemption(applicantId)
    // The look-up by external user id needs the redemption. A direct verification has none.
    if (redemption === null && emailKey !== null) return 'unproven'
    if (redemption?.isFindable === true) {
      const { externalUserId } = redemption
      const named = await callProvider(provider.find(externalUserId), { externalUserId })
      if (named?.applicantId === applicantId) return 'known'
      if (named !== null) {
        const ids = { externalUserId, applicantId: named.applicantId, missing: applicantId }
        logger.error(ids, 'The external user id of a missing applicant belongs to another applicant.')
        return 'name_taken'
      }
    }
    const knownAt = Math.max(redemption?.startedAt ?? 0, reviewedAt ?? 0)
    return (await hasWitness(applicantId, knownAt)) ? 'closed' : 'unproven'
  }

  /**
   * Whether the provider knows another applicant that was redeemed and reviewed no later than the missing one. A review
   * alone proves no date: a copied applicant has the review time of its original.
   */
  async function hasWitness(missingId: string, knownAt: number): Promise<boolean> {
    let remaining = maxWitnesses
    let afterId: string | undefined
    for (;;) {
      const page = await store.identity.subjects({ limit: pageSize, afterId })
      for (const { applicantId, missing, reviewedAt } of page) {
        const mayBeWitness = missing === null && reviewedAt !== null && reviewedAt <= knownAt
        if (applicantId === null || applicantId === missingId || !mayBeWitness) continue
        const redemption = await findRedemption(applicantId)
        if (redemption === null || redemption.startedAt > knownAt) continue
        if ((await callProvider(provider.review(applicantId), { applicantId })) !== null) return true
        remaining -= 1
        if (remaining === 0) return false
      }
      if (page.length < pageSize) return false
      afterId = page.at(-1)?.id
    }
  }

  function findRedemption(applicantId: string): Promise<RedemptionRecord | null> {
    return store.transaction((tx) => tx.identity.findAttachedRedemption(applicantId))
  }

  async function callProvider<T>(call: Promise<ProviderAnswer<T>>, about: Record<string, string>): Promise<T> {
    const answer = await call
    if (answer.kind === 'answer') return answer.value
    logFailure(logger, answer, about)
    throw createFailureError(answer)
  }

  function closeHoldOrMissing(before: IdentitySubject, applicantId: string, kind: CloseRequest['kind']) {
    const { id, donor, emailKey, revision } = before
    return audited<CloseResult>(async (tx, note) => {
      const locked = await lockSubject(tx, id)
      if (locked.revision !== revision) return 'changed'
      const now = clock.now()
      const isMissing = kind === 'missing' && locked.missing !== null
      const change: VerificationChange = isMissing
        ? markGone(locked.missing, now)
        : // Any webhook dated after the beginning of the hold still applies.
          { presence: { isActive: true, at: locked.presence?.at ?? 0 }, pollInMs: 0 }
      await tx.identity.changeVerification(id, change)
      const report = { source: 'operator', at: null, review: null, outcome: 'applied' } as const
      const reported = isMissing ? 'missing' : 'activated'
      await tx.identity.recordVerdict({ notedAt: now, subjectId: id, applicantId, ...report, change: reported })
      const action = isMissing ? 'identity.missing_closed' : 'identity.hold_closed'
      note({ action, subject: applicantId, details: { integrationAddress: donor, emailKey } })
      return 'closed'
    })
  }

  return { resolveRedemption, closeVerification }
}

/** Whether an operator may resolve a redemption: its outcome is unknown, and the token can no longer be redeemed. */
export function isResolvable(redemption: RedemptionRecord): boolean {
  const { state } = redemption
  return state === 'unresolved' || ((state === 'unknown' || state === 'in_flight') && !mayStillRedeem(redemption))
}

function isClosable(kind: CloseRequest['kind'], { presence, missing }: IdentitySubject): boolean {
  return kind === 'hold' ? presence?.isActive === false && missing?.confirmed !== true : missing?.confirmed === false
}
