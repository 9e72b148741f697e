/** One entry of the log of attempts. Source: issue 6 (operators); the log holds neither e-mail nor token. @module */
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { ShareAttempt, ShareOutcome } from '../ports/store-verifications.js'

/** Whose attempt it is. */
export type Attempter = Pick<ShareAttempt, 'accountId' | 'emailKey' | 'integrationAddress'>

/** What else is known of it. */
export interface AttemptDetails {
  readonly externalUserId?: string | null | undefined
  /** The provider's number for a refusal. */
  readonly providerCode?: number | null | undefined
}

/** Logs how an attempt went. @param at - Unix milliseconds. */
export function logAttempt(
  tx: StoreTransaction,
  at: number,
  { accountId, emailKey, integrationAddress }: Attempter,
  outcome: ShareOutcome,
  { externalUserId = null, providerCode = null }: AttemptDetails = {},
): Promise<void> {
  return tx.verifications.logAttempt({
    ...{ at, integrationAddress, emailKey, accountId, outcome },
    ...{ externalUserId, providerCode },
  })
}
