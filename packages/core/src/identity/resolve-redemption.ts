/** Resolves a redemption with an unknown outcome for an operator. Source: docs/decisions/identity.md. @module */
import type { Audited } from '../audit/audited.js'
import type { ResolveRequest, ResolveResult } from '../identity-types.js'
import type { Applicant } from '../ports/identity-provider.js'
import type { RedemptionRecord } from '../ports/store-identity.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import { attach } from './attach.js'
import { isInFlight } from './decide-subject.js'
import { failureError, logFailure } from './errors.js'
import { type IdentityParts, lockSubject, shareEntry } from './redemption.js'

/**
 * Builds the operation. It resolves a redemption that is `unresolved`, or `unknown` or `in_flight` with an expired
 * lease. It writes the audit log in the same transaction.
 * It rejects with SharingUnavailableError, SharingMisconfiguredError; StoreError.
 */
export function createResolveRedemption(
  parts: Omit<IdentityParts, 'store'> & { readonly audited: Audited },
): (request: ResolveRequest) => Promise<ResolveResult> {
  const { provider, clock, logger, audited } = parts
  return async ({ externalUserId, applicantId }) => {
    const answer = applicantId === null ? null : await provider.review(applicantId)
    if (answer !== null && answer.kind !== 'answer') {
      logFailure(logger, answer, { externalUserId })
      throw failureError(answer)
    }
    if (answer !== null && answer.value === null) return 'unknown_applicant'
    const { review = null, reviewedAt = null, levelName = null } = answer?.value ?? {}
    const applicant = applicantId === null ? null : { applicantId, review, reviewedAt, levelName }
    return audited(async (tx, note) => {
      const named = await tx.identity.redemption(externalUserId)
      if (named === null) return 'not_open'
      const { emailKey } = await lockSubject(tx, named.subjectId)
      // It may have been resolved while this waited for the lock.
      const redemption = await tx.identity.redemption(externalUserId)
      if (redemption === null || !mayResolve(redemption)) return 'not_open'
      const outcome = await resolve(tx, redemption, applicant)
      if (outcome === 'attached' || outcome === 'surplus' || outcome === 'absent')
        note({
          ...{ action: 'identity.redemption_resolved', subject: externalUserId },
          details: { outcome, applicantId, integrationAddress: redemption.integrationAddress, emailKey },
        })
      return outcome
    })
  }

  async function resolve(
    tx: StoreTransaction,
    redemption: RedemptionRecord,
    applicant: Applicant | null,
  ): Promise<ResolveResult> {
    const { externalUserId, subjectId, isFindable } = redemption
    if (applicant !== null) {
      const holder = await tx.identity.subjectOf(applicant.applicantId)
      if (holder !== null) return holder.id === subjectId ? 'of_another_redemption' : 'of_another_subject'
      const { isAttached } = await attach(tx, { redemption, applicant, outcome: 'resolved', source: 'operator' }, parts)
      return isAttached ? 'attached' : 'surplus'
    }
    // An absent name would be looked up for another day; the operator's decision ends that.
    await tx.identity.changeRedemption(externalUserId, { state: isFindable ? 'refused' : 'absent', lookUpInMs: null })
    await tx.identity.logShare(shareEntry(clock.now(), redemption, 'resolved'))
    return 'absent'
  }
}

/** Whether its outcome is unknown and its token can no longer land. */
function mayResolve(redemption: RedemptionRecord): boolean {
  const { state } = redemption
  return state === 'unresolved' || ((state === 'unknown' || state === 'in_flight') && !isInFlight(redemption))
}
