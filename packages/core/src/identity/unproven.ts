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
  /** Keyed hashes of the other addresses for which something was shared at the account that is signed in, and which are nobody else's: held as well. */
  readonly others: readonly string[]
}

/**
 * Holds an address, and with it those for which something was shared at an account, in the order of their keyed hashes: so two accounts that carry each
 * other's address and prove their own do not wait for each other. Call it before a verification is locked.
 * @param before - What was read of the account that is signed in, unlocked: its last share tells the address of what is under way there.
 * @param freshId - The id of the account, should the address be nobody’s.
 */
export async function holdWithOthers(
  tx: StoreTransaction,
  email: EmailAddress,
  before: VerificationView | undefined,
  freshId: string,
): Promise<HeldAddress> {
  const keys = before === undefined ? [] : await sharedAt(tx, before)
  const isBefore = (key: string) => key < email.key
  const isBehind = (key: string) => key > email.key
  const holdTheirs = async (wanted: readonly string[]) => {
    const theirs: string[] = []
    for (const key of wanted)
      if (before !== undefined && (await tx.identityAccounts.holdKnown(key, before.accountId)) === before.accountId)
        theirs.push(key)
    return theirs
  }
  const first = await holdTheirs(keys.filter(isBefore))
  const held = await tx.identityAccounts.hold(email, freshId)
  return { held, others: [...first, ...(await holdTheirs(keys.filter(isBehind)))] }
}

/** Keyed hashes of the addresses that the applicant of an account and its last share were for, in order. */
async function sharedAt(tx: StoreTransaction, { applicantId, emailKey }: VerificationView): Promise<string[]> {
  const attempt = applicantId === null ? null : await tx.verifications.redemptionOf(applicantId)
  return [...new Set([attempt?.emailKey ?? emailKey, emailKey])].sort()
}
