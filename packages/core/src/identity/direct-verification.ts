/** A verification that a user did directly, without an integration. Source: INTERFACE 3 (exists but not donated by caller). @module */
import type { Review } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { Clock } from '../ports/world.js'
import { type DirectDecision, decideDirect, nothingShared, selfDonor } from './decide-claim.js'
import { keepQuestion } from './look-up.js'
import { nextQuestionMs } from './question-times.js'

/** What the host knows of it. */
export interface DirectVerification {
  readonly accountId: string
  /** The applicant at the provider, so that its verdicts are followed; null: nobody asks about it. */
  readonly applicantId: string | null
  readonly review: Review
  /** The provider's time of the review, in unix milliseconds. */
  readonly at: number
}

/** Records it. `busy`: a redemption for the account is under way; ask again in a moment. `kept`: what was there stays. */
export type RecordDirectVerification = (verification: DirectVerification) => Promise<DirectDecision>

/** Builds the operation. From then on no integration's share reaches the account: it is answered 409. */
export function createRecordDirectVerification({
  store,
  clock,
}: {
  readonly store: Pick<Store, 'transaction'>
  readonly clock: Pick<Clock, 'now'>
}): RecordDirectVerification {
  return ({ accountId, applicantId, review, at }) =>
    store.transaction(async (tx) => {
      const found = await tx.verifications.lock(accountId)
      const decision = decideDirect(found, at)
      if (decision !== 'recorded') return decision
      const askInMs = applicantId === null ? null : nextQuestionMs(review, clock.now() - at)
      const known = { ...nothingShared, donor: selfDonor, applicantId, review, reviewedAt: at, claim: null }
      const asked = { askInMs, ...(await keepQuestion(tx, { ...found, attempt: null, claim: null }, clock)) }
      await tx.verifications.change(accountId, { ...known, ...asked })
      await tx.identityAccounts.log({
        ...{ at: clock.now(), action: 'verified', accountId },
        ...{ emailKey: null, proof: null, by: null, reason: null },
      })
      return decision
    })
}
