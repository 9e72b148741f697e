/**
 * What was shared for an address that an account carried and never proved. It is the account's no more once that proves another address: it waits for whoever
 * proves the first. Source: INTERFACE 4.2; docs/decisions/identity.md (accounts).
 * @module
 */
import type { EmailAddress, IdentityAccount } from '../ports/identity-accounts.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { VerificationView } from '../ports/store-verifications.js'

/** An address that is held. */
export interface HeldAddress {
  readonly held: IdentityAccount
  /** Keyed hashes of the other addresses of the account that is signed in, and which are nobody else's: held as well. */
  readonly others: readonly string[]
}

/** What is known of the account that is signed in before anything is held. */
export interface Before {
  readonly accountId: string
  /** Its verification, read before the transaction: its last share tells the address of what is under way there. */
  readonly verification: VerificationView | undefined
}

/**
 * Holds an address, and with it the one that the account that is signed in carries and those for which something was shared there, in the order of their keyed
 * hashes: so two accounts that carry each other's address and prove their own do not wait for each other. Call it before a verification is locked.
 * @param before - The account that is signed in, or undefined.
 * @param freshId - The id of the account, should the address be nobody’s.
 */
export async function holdWithOthers(
  tx: StoreTransaction,
  email: EmailAddress,
  before: Before | undefined,
  freshId: string,
): Promise<HeldAddress> {
  if (before === undefined) return { held: await tx.identityAccounts.hold(email, freshId), others: [] }
  const { accountId } = before
  const keys = await keysOf(tx, before)
  const holdTheirs = async (wanted: readonly string[]) => {
    const theirs: string[] = []
    for (const key of wanted) if ((await tx.identityAccounts.holdKnown(key, accountId)) === accountId) theirs.push(key)
    return theirs
  }
  const first = await holdTheirs(keys.filter((key) => key < email.key))
  const held = await tx.identityAccounts.hold(email, freshId)
  return { held, others: [...first, ...(await holdTheirs(keys.filter((key) => key > email.key)))] }
}

/**
 * Keyed hashes of the address that an account carries and of those that its applicant and its last share were for, in order. The first is held even where nothing
 * was shared yet: a share that resolved it to the account may begin meanwhile.
 */
async function keysOf(tx: StoreTransaction, { accountId, verification }: Before): Promise<string[]> {
  const carried = await tx.identityAccounts.carried(accountId)
  const applicantId = verification?.applicantId ?? null
  const attempt = applicantId === null ? null : await tx.verifications.redemptionOf(applicantId)
  const keys = [carried, attempt?.emailKey, verification?.emailKey]
  return [...new Set(keys.filter((key) => key !== undefined && key !== null))].sort()
}
