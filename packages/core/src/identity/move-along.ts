/**
 * Addresses that are given to another account while something is shared for them. An address is held in the transaction that uses its account, so that it is
 * the account's own there; what was under way when it was given away goes along once it ended, whoever learns of that. Source: INTERFACE 4.2;
 * docs/decisions/identity.md (accounts).
 * @module
 */
import type { EmailAddress } from '../ports/identity-accounts.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { RedemptionAttempt, Verification } from '../ports/store-verifications.js'
import type { Clock } from '../ports/world.js'
import { movesAlong, nothingShared } from './decide-claim.js'
import { keepQuestion } from './look-up.js'

/** What is needed inside a transaction. */
export interface HoldDeps {
  readonly clock: Pick<Clock, 'now'>
  /** Whether the accounts are the store's own. A host with users of its own gives addresses away by itself. @default false */
  readonly holdsAddresses?: boolean | undefined
}

/** What this needs. */
export interface AddressDeps extends HoldDeps {
  readonly store: Pick<Store, 'transaction'>
}

/** The account that an address resolves to. Call it before a verification is locked, as every transaction takes the address first. */
export async function accountOf(
  tx: StoreTransaction,
  email: EmailAddress,
  before: string,
  { holdsAddresses = false }: Pick<HoldDeps, 'holdsAddresses'>,
): Promise<string> {
  return holdsAddresses ? (await tx.identityAccounts.hold(email, before)).accountId : before
}

/** Ends what was begun at an account. If its address was given to another one meanwhile, what was shared goes there. */
export function endAt<T>(
  accountId: string,
  email: EmailAddress,
  deps: AddressDeps,
  work: (tx: StoreTransaction) => Promise<T>,
): Promise<T> {
  return deps.store.transaction(async (tx) => {
    const owner = await accountOf(tx, email, accountId, deps)
    const result = await work(tx)
    if (owner !== accountId) await moveAlong(tx, accountId, owner, deps.clock)
    return result
  })
}

/**
 * The same for who learns of the end without the request: a webhook, the poll, an operator. Of an attempt the keyed hash of its address is kept. What did not end
 * here stays, as it may have been shared for another address since. Call it before a verification is locked.
 */
export async function endOf<T>(
  tx: StoreTransaction,
  { accountId, emailKey }: Pick<RedemptionAttempt, 'accountId' | 'emailKey'>,
  { clock, holdsAddresses = false }: HoldDeps,
  work: () => Promise<T>,
): Promise<T> {
  const owner = holdsAddresses ? await tx.identityAccounts.holdKnown(emailKey, accountId) : null
  if (owner === null || owner === accountId) return work()
  const before = await tx.verifications.lock(accountId)
  const result = await work()
  if (isEnded(before, await tx.verifications.lock(accountId))) await moveAlong(tx, accountId, owner, clock)
  return result
}

/** Moves what was shared for an address to the account that has it. The attempts stay, so that no name of an applicant is used twice. */
export async function moveAlong(
  tx: StoreTransaction,
  fromId: string,
  toId: string,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const from = await tx.verifications.lock(fromId)
  const to = await tx.verifications.lock(toId)
  if (!movesAlong(await withoutIdleClaim(tx, from), await withoutIdleClaim(tx, to))) return
  const { donor, applicantId, review, reviewedAt, doubt, presence, missing } = from
  const moved = { donor, applicantId, attempt: null, review, reviewedAt, doubt, presence, missing }
  const kept = await keepQuestion(tx, from, clock)
  await tx.verifications.change(fromId, { ...nothingShared, claim: null, askInMs: null, ...kept })
  // Asked about at once: the question that was due to it lay with the other account.
  await tx.verifications.change(toId, { ...moved, claim: null, askInMs: 0 })
}

/** A claim that lapsed before its request sent anything keeps nobody waiting: whoever made it for a look-up died. */
async function withoutIdleClaim(tx: StoreTransaction, found: Verification): Promise<Verification> {
  if (found.claim?.lapsed !== true) return found
  const open = { accountId: found.accountId, afterNumber: found.attempt ?? 0, limit: 1 }
  const [doubtful] = await tx.verifications.doubtfulRedemptions({ ...open, absentSince: Number.MAX_SAFE_INTEGER })
  return doubtful === undefined ? { ...found, claim: null } : found
}

function isEnded(before: Verification, after: Verification): boolean {
  return before.applicantId !== after.applicantId || (before.claim !== null && after.claim === null)
}
