/** Giving a proven e-mail address to an account: how a placeholder becomes somebody's. Source: INTERFACE 4.2 (account resolution order). @module */
import type { IdentityAccount, IdentityAccounts } from '../ports/identity-accounts.js'
import type { Store } from '../ports/store.js'
import type { Clock } from '../ports/world.js'
import type { EmailCodes } from './email-codes.js'
import type { EmailKeys } from './email-keys.js'
import { EmailProofError, ShareRequestError } from './errors.js'
import { normaliseEmail } from './normalise-email.js'

/** What this needs. */
export interface ClaimAccountDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly accounts: IdentityAccounts
  readonly emails: EmailKeys
  readonly codes: EmailCodes
  readonly clock: Pick<Clock, 'now'>
}

/** Claims accounts. */
export interface AccountClaims {
  /**
   * A code for an address. Whoever calls this sends it to that address and shows it to nobody.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address.
   */
  requestCode(email: string): { readonly code: string; readonly expiresAt: number }
  /**
   * Claims by code.
   * @throws EmailProofError `ERR_EMAIL_PROOF` when the code is wrong or too old.
   */
  claimByCode(email: string, code: string): Promise<IdentityAccount>
  /**
   * Claims at once, because an integration attests that the address is its user's: only the one that shared the account's verification may.
   * @throws EmailProofError `ERR_EMAIL_PROOF` when it did not.
   */
  claimByAttestation(email: string, integrationAddress: string): Promise<IdentityAccount>
}

/** Builds it. */
export function createAccountClaims({ store, accounts, emails, codes, clock }: ClaimAccountDeps): AccountClaims {
  function read(input: string) {
    const address = normaliseEmail(input)
    if (address === null) throw new ShareRequestError('email must be a valid email address')
    return emails(address)
  }
  return {
    requestCode: (email) => codes.issue(read(email).key, clock.now()),
    async claimByCode(input, code) {
      const email = read(input)
      if (!codes.accepts(email.key, code, clock.now())) throw new EmailProofError()
      return accounts.claim(email, { kind: 'code' })
    },
    async claimByAttestation(input, integrationAddress) {
      const email = read(input)
      const { accountId } = await accounts.resolve(email)
      const { donor } = await store.transaction((tx) => tx.verifications.lock(accountId))
      if (donor === null || donor !== integrationAddress.toLowerCase()) throw new EmailProofError()
      return accounts.claim(email, { kind: 'attestation', integrationAddress: donor })
    },
  }
}
