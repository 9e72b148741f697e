/** What an account may keep of what was shared for it, by the attempts that it came from. Source: INTERFACE 4.2; docs/decisions/identity.md (accounts). @module */
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { RedemptionAttempt, Verification } from '../ports/store-verifications.js'

/** Something at an account that may have to leave it. */
export interface Kept {
  readonly accountId: string
  /** Where it came from. */
  readonly attempts: readonly Pick<RedemptionAttempt, 'externalUserId' | 'emailKey'>[]
}

/** What an attempt may have left at its account, and what it was claimed to replace there. */
export async function keptBy(
  tx: StoreTransaction,
  attempt: Pick<RedemptionAttempt, 'externalUserId' | 'accountId' | 'emailKey' | 'replaces'>,
): Promise<Kept> {
  const { accountId, replaces } = attempt
  const before = replaces === null ? null : await tx.verifications.redemptionOf(replaces)
  return { accountId, attempts: before === null ? [attempt] : [before, attempt] }
}

/** What an account may keep of attempts, and of its applicant: that one's attempt says where it goes, whatever its account shared for since. */
export async function keptAt(
  tx: StoreTransaction,
  { accountId, applicantId }: Verification,
  attempts: readonly RedemptionAttempt[],
): Promise<Kept> {
  const attached = applicantId === null ? null : await tx.verifications.redemptionOf(applicantId)
  return { accountId, attempts: attached === null ? attempts : [attached, ...attempts] }
}

/** Whether the applicant of an account, if it has one, was shared for an address. */
export async function isFor(tx: StoreTransaction, found: Verification, emailKey: string): Promise<boolean> {
  return (await keptAt(tx, found, [])).attempts.every((each) => each.emailKey === emailKey)
}
