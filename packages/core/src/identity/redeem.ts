/**
 * Redeems a token within its lease. Source: docs/interface.md 4.2, 7 (422); docs/decisions/identity.md.
 * @module
 */
import type { ShareResponse } from '@payment-integration/contract'
import type { Applicant, IdentityProvider, Review } from '../ports/identity-provider.js'
import type { NewRedemption, RedemptionState, ShareOutcome } from '../ports/store-identity.js'
import { attach } from './attach.js'
import { failureError, logFailure, SharingUnavailableError, VerificationNotSharedError } from './errors.js'
import { isOpen, logMisfit, misfitOf } from './look-up.js'
import { type IdentityParts, landingMs, lockSubject, lostAnswerMs, shareEntry } from './redemption.js'
import { isRejected } from './reviews.js'

/** The dependencies of a redemption. */
export type RedeemParts = Omit<IdentityParts, 'provider'> & { readonly provider: IdentityProvider }

/** The end of a redemption without an applicant. */
interface FailedRedemption {
  readonly outcome: ShareOutcome
  readonly state: Extract<RedemptionState, 'refused' | 'foreign'>
  readonly providerCode?: number | null
}

/**
 * Redeems a token for a stored redemption. It resolves null when an older applicant has the name: begin again with the
 * next name. It rejects with the errors of sharing.
 */
export type Redeem = (redemption: NewRedemption, shareToken: string) => Promise<ShareResponse | null>

/** Builds it. */
export function createRedeem(parts: RedeemParts): Redeem {
  const { store, provider, clock, logger } = parts

  return async (redemption, shareToken) => {
    const { externalUserId, integrationAddress, startedAt, leaseMs } = redemption
    // A request signed by then lands before the lease ends, however long this process is suspended.
    const sendBy = startedAt + leaseMs - landingMs
    const result =
      clock.now() > sendBy
        ? ({ kind: 'unsent' } as const)
        : await provider.redeem({ shareToken, externalUserId, sendBy, integrationAddress })
    switch (result.kind) {
      case 'redeemed':
        return attached(redemption, result.applicant, 'redeemed')
      case 'unknown':
        return findAfterUnknown(redemption, result.reason)
      case 'unsent':
        await fail(redemption, { outcome: 'late', state: 'refused' })
        throw new SharingUnavailableError()
      default: {
        const providerCode = result.kind === 'rejected' ? result.providerCode : null
        const former = await fail(redemption, { outcome: result.kind, state: 'refused', providerCode })
        logFailure(logger, result, { externalUserId })
        throw failureError(result, former)
      }
    }
  }

  /** Looks up the applicant of a redemption with an unknown outcome. */
  async function findAfterUnknown(redemption: NewRedemption, reason: string): Promise<ShareResponse | null> {
    const { externalUserId, subjectId } = redemption
    const answer = await provider.find(externalUserId, redemption.integrationAddress)
    if (answer.kind !== 'answer') logFailure(logger, answer, { externalUserId })
    const applicant = answer.kind === 'answer' ? answer.value : null
    const misfit = applicant === null ? null : misfitOf(redemption, applicant)
    if (applicant !== null && misfit === null) return attached(redemption, applicant, 'found')
    if (applicant !== null && misfit !== null) logMisfit(logger, externalUserId, applicant, misfit)
    if (misfit === 'age') {
      await fail(redemption, { outcome: 'foreign', state: 'foreign' })
      return null
    }
    // The token may still land, so the name is looked up again.
    await store.transaction(async (tx) => {
      await lockSubject(tx, subjectId)
      const now = await tx.identity.redemption(externalUserId)
      if (now?.state === 'in_flight')
        await tx.identity.changeRedemption(externalUserId, { state: 'unknown', lookUpInMs: lostAnswerMs })
      await tx.identity.logShare(shareEntry(clock.now(), redemption, 'unknown'))
    })
    logger.warn({ externalUserId, reason }, 'The outcome of a redemption is unknown; the name is looked up again.')
    throw new SharingUnavailableError()
  }

  async function attached(
    redemption: NewRedemption,
    applicant: Applicant,
    outcome: 'redeemed' | 'found',
  ): Promise<ShareResponse> {
    const source = outcome === 'found' ? 'look_up' : 'redemption'
    const { donor, review } = await store.transaction((tx) =>
      attach(tx, { redemption, applicant, outcome, source }, parts),
    )
    // A verification of another donor is attached: the answer reveals nothing about the token.
    if (donor !== redemption.integrationAddress) throw new VerificationNotSharedError()
    return { ...review, reused: true }
  }

  /**
   * Records a redemption that used no token. It resolves the caller's own rejection of the open subject; the
   * verification stays unchanged.
   */
  async function fail(
    redemption: NewRedemption,
    { outcome, state, providerCode = null }: FailedRedemption,
  ): Promise<Review | null> {
    const { externalUserId, subjectId, integrationAddress } = redemption
    return store.transaction(async (tx) => {
      const { donor, review, closed } = await lockSubject(tx, subjectId)
      const now = await tx.identity.redemption(externalUserId)
      if (now !== null && isOpen(now.state))
        await tx.identity.changeRedemption(externalUserId, { state, lookUpInMs: null })
      await tx.identity.logShare(shareEntry(clock.now(), redemption, outcome, providerCode))
      return !closed && donor === integrationAddress && isRejected(review) ? review : null
    })
  }
}
