/**
 * What was shared for an address that an account carried and never proved. It is the account's no more once that proves another address: it waits for whoever
 * proves the first. Source: INTERFACE 4.2; docs/decisions/identity.md (accounts).
 * @module
 */
import type { EmailAddress, IdentityAccount } from '../ports/identity-accounts.js'
import type { StoreTransaction } from '../ports/store-transaction.js'

/** An address that is held. */
export interface HeldAddress {
  readonly held: IdentityAccount
  /** Keyed hash of the address that the account that is signed in carries, where that is another one and nobody else's: held as well. Else null. */
  readonly carried: string | null
}

/**
 * Holds an address, and with it the one that the account that is signed in carries, in the order of their keyed hashes: so two accounts that carry each other's
 * address and prove their own do not wait for each other. It is held even where nothing was shared for it, as a share may begin meanwhile. Call it before a
 * verification is locked.
 * @param accountId - The account that is signed in, or undefined.
 * @param freshId - The id of the account, should the address be nobody’s.
 */
export async function holdWithCarried(
  tx: StoreTransaction,
  email: EmailAddress,
  accountId: string | undefined,
  freshId: string,
): Promise<HeldAddress> {
  const { identityAccounts } = tx
  const hold = () => identityAccounts.hold(email, freshId)
  const other = accountId === undefined ? null : await identityAccounts.carried(accountId)
  if (accountId === undefined || other === null || other === email.key) return { held: await hold(), carried: null }
  const holdOther = async () => ((await identityAccounts.holdKnown(other, accountId)) === accountId ? other : null)
  if (other > email.key) return { held: await hold(), carried: await holdOther() }
  const carried = await holdOther()
  return { held: await hold(), carried }
}
