/** An operator says what became of a token that nobody can look up. Source: docs/decisions/identity.md (the older endpoint). @module */
import type { IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { Clock, Logger } from '../ports/world.js'
import { attach } from './attach.js'
import { logAttempt } from './attempt-log.js'
import { refusalError } from './redeem.js'

/** What settling needs. */
export interface SettleDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly provider: Pick<IdentityProvider, 'review'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** What an operator found at the provider. */
export interface Settlement {
  /** The name of the attempt. */
  readonly externalUserId: string
  /** The applicant that came of it; null: none did. */
  readonly applicantId: string | null
}

/** What became of the attempt. */
export type Settled = 'attached' | 'surplus' | 'absent' | 'not_unresolved' | 'unknown_applicant' | 'of_another_account'

/**
 * Builds the operation: an attempt that is `unresolved` is ended. Anything else stays as it is.
 * It rejects with IdentityUnavailableError, IdentityMisconfiguredError; StoreError.
 */
export function createSettle(deps: SettleDeps): (settlement: Settlement) => Promise<Settled> {
  const { store, provider, clock } = deps
  return async ({ externalUserId, applicantId }) => {
    const said = applicantId === null ? null : await provider.review(applicantId)
    if (said !== null && said.kind !== 'answer') throw refusalError(said)
    if (said !== null && said.value === null) return 'unknown_applicant'
    return store.transaction(async (tx) => {
      const attempt = await tx.verifications.redemption(externalUserId)
      if (attempt === null) return 'not_unresolved'
      const { claim } = await tx.verifications.lock(attempt.accountId)
      if ((await tx.verifications.redemption(externalUserId))?.state !== 'unresolved') return 'not_unresolved'
      if (applicantId !== null && said !== null) {
        const other = await tx.verifications.lockByApplicant({ applicantId, externalUserId: null })
        if (other !== null && other.verification.accountId !== attempt.accountId) return 'of_another_account'
        const applicant = {
          applicantId,
          review: said.value?.review ?? null,
          reviewedAt: said.value?.reviewedAt ?? null,
        }
        const { isAttached } = await attach(tx, { attempt, applicant, outcome: 'settled', source: 'operator' }, deps)
        return isAttached ? 'attached' : 'surplus'
      }
      await tx.verifications.endRedemption(externalUserId, 'absent')
      if (claim?.lapsed === true) await tx.verifications.change(attempt.accountId, { claim: null })
      await logAttempt(tx, clock.now(), attempt, 'settled', { externalUserId })
      return 'absent'
    })
  }
}
