/** An operator says what became of a token of which nobody knows it. Source: docs/decisions/identity.md (the older endpoint). @module */
import type { Audited } from '../audit/audited.js'
import type { Applicant, IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { RedemptionAttempt, RedemptionClaim } from '../ports/store-verifications.js'
import type { Logger } from '../ports/world.js'
import { attach } from './attach.js'
import { logAttempt } from './attempt-log.js'
import { keptBy } from './kept.js'
import { logRefusal } from './log-refusal.js'
import { endOf, type HoldDeps, type Move } from './move-along.js'
import { refusalError } from './redeem.js'

/** What settling needs. */
export interface SettleDeps extends HoldDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly provider: Pick<IdentityProvider, 'review'>
  readonly logger: Logger
  readonly audited: Audited
}

/** What an operator found at the provider. */
export interface Settlement {
  /** The name of the attempt. */
  readonly externalUserId: string
  /** The applicant that came of it; null: none did. */
  readonly applicantId: string | null
}

/** What became of the attempt. After those of the second line nothing was changed. */
export type Settled =
  | ('attached' | 'surplus' | 'absent')
  | ('not_open' | 'unknown_applicant' | 'of_another_account' | 'of_another_attempt')

/**
 * Builds the operation: an attempt is ended whose end nobody knows, which is `unresolved`, or `unknown` or `claimed` without a claim that runs. Anything else
 * stays as it is, and so does one whose token may still be on its way. What is ended leaves its record in the audit log, in the same transaction.
 * It rejects with IdentityUnavailableError, IdentityMisconfiguredError; StoreError.
 */
export function createSettle(deps: SettleDeps): (settlement: Settlement) => Promise<Settled> {
  const { provider, clock, logger, audited } = deps
  return async ({ externalUserId, applicantId }) => {
    const said = applicantId === null ? null : await provider.review(applicantId)
    if (said !== null && said.kind !== 'answer') {
      logRefusal(logger, said, { externalUserId })
      throw refusalError(said)
    }
    if (said !== null && said.value === null) return 'unknown_applicant'
    const { review = null, reviewedAt = null } = said?.value ?? {}
    const applicant = applicantId === null ? null : { applicantId, review, reviewedAt }
    return audited(async (tx, note) => {
      const attempt = await tx.verifications.redemption(externalUserId)
      if (attempt === null) return 'not_open'
      const { integrationAddress, emailKey } = attempt
      return endOf(tx, await keptBy(tx, attempt), deps, async (moves) => {
        const settled = await settle(tx, attempt, applicant, moves)
        if (settled === 'attached' || settled === 'surplus' || settled === 'absent')
          note({
            ...{ action: 'identity.attempt_settled', subject: externalUserId },
            details: { outcome: settled, applicantId, integrationAddress, emailKey },
          })
        return settled
      })
    })
  }

  async function settle(
    tx: StoreTransaction,
    attempt: RedemptionAttempt,
    applicant: Applicant | null,
    moves: readonly Move[],
  ): Promise<Settled> {
    const { externalUserId } = attempt
    const { claim, applicantId: attached } = await tx.verifications.lock(attempt.accountId)
    // While it waited for the account, the attempt may have ended.
    const found = await tx.verifications.redemption(externalUserId)
    if (found === null || !isOpen(found, claim)) return 'not_open'
    if (applicant !== null && applicant.applicantId === attached) return 'of_another_attempt'
    if (applicant !== null) {
      const { applicantId } = applicant
      const other = await tx.verifications.ofApplicant(applicantId)
      if (other !== null && other.accountId !== attempt.accountId) return 'of_another_account'
      const attachment = { attempt, applicant, outcome: 'settled', source: 'operator' } as const
      const { isAttached } = await attach(tx, attachment, deps, moves)
      return isAttached ? 'attached' : 'surplus'
    }
    // What is absent is looked up for a day more: where that finds somebody, the operator knows better.
    await tx.verifications.endRedemption(externalUserId, found.isFindable ? 'refused' : 'absent')
    if (claim?.lapsed === true) await tx.verifications.change(attempt.accountId, { claim: null })
    await logAttempt(tx, clock.now(), attempt, 'settled', { externalUserId })
    return 'absent'
  }
}

/** Whether nobody knows what became of an attempt, and nothing of it is on its way any more. */
function isOpen({ state, externalUserId }: RedemptionAttempt, claim: RedemptionClaim | null): boolean {
  if (state === 'unresolved') return true
  const isHeld = claim?.externalUserId === externalUserId && !claim.lapsed
  return (state === 'unknown' || state === 'claimed') && !isHeld
}
