/**
 * Redeems a token within its lease, or never. Source: docs/interface.md 4.2, 7 (422); docs/decisions/identity.md.
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

/** What redeeming works with. */
export type RedeemParts = Omit<IdentityParts, 'provider'> & { readonly provider: IdentityProvider }

/** How a redemption ended without an applicant. */
interface Ending {
  readonly outcome: ShareOutcome
  readonly state: Extract<RedemptionState, 'refused' | 'foreign'>
  readonly providerCode?: number | null
}

/**
 * Redeems a token under a stored redemption. It resolves null where an older applicant has the name: the next name may
 * do. It rejects with the errors of sharing.
 */
export type Redeem = (redemption: NewRedemption, shareToken: string) => Promise<ShareResponse | null>

/** Builds it. */
export function createRedeem(parts: RedeemParts): Redeem {
  const { store, provider, clock, logger } = parts

  return async (redemption, shareToken) => {
    const { externalUserId, integrationAddress, startedAt, leaseMs } = redemption
    // A request that is signed by then has landed when the lease ends, however long this process is suspended.
    const sendBy = startedAt + leaseMs - landingMs
    const result =
      clock.now() > sendBy
        ? ({ kind: 'unsent' } as const)
        : await provider.redeem({ shareToken, externalUserId, sendBy, integrationAddress })
    switch (result.kind) {
      case 'redeemed':
        return attached(redemption, result.applicant, 'redeemed')
      case 'unknown':
        return lost(redemption, result.reason)
      case 'unsent':
        await end(redemption, { outcome: 'late', state: 'refused' })
        throw new SharingUnavailableError()
      default: {
        const providerCode = result.kind === 'rejected' ? result.providerCode : null
        const former = await end(redemption, { outcome: result.kind, state: 'refused', providerCode })
        logFailure(logger, result, { externalUserId })
        throw failureError(result, former)
      }
    }
  }

  /** Looks for the applicant of a redemption whose answer was lost. */
  async function lost(redemption: NewRedemption, reason: string): Promise<ShareResponse | null> {
    const { externalUserId, subjectId } = redemption
    const answer = await provider.find(externalUserId, redemption.integrationAddress)
    if (answer.kind !== 'answer') logFailure(logger, answer, { externalUserId })
    const applicant = answer.kind === 'answer' ? answer.value : null
    const misfit = applicant === null ? null : misfitOf(redemption, applicant)
    if (applicant !== null && misfit === null) return attached(redemption, applicant, 'found')
    if (applicant !== null && misfit !== null) logMisfit(logger, externalUserId, applicant, misfit)
    if (misfit === 'age') {
      await end(redemption, { outcome: 'foreign', state: 'foreign' })
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
    logger.warn({ externalUserId, reason }, 'The outcome of a redemption is not known yet.')
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
    // Somebody else's verification is there: whatever became of the token, nothing of that is answered.
    if (donor !== redemption.integrationAddress) throw new VerificationNotSharedError()
    return { ...review, reused: true }
  }

  /**
   * Ends a redemption that used no token. It resolves the caller's own rejection of the open subject; the verification
   * stays unchanged.
   */
  async function end(
    redemption: NewRedemption,
    { outcome, state, providerCode = null }: Ending,
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
