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
import type { Clock, Ids } from '../ports/world.js'
import { logAttempt } from './attempt-log.js'
import { leaves, nothingShared, takes } from './decide-claim.js'
import { keepQuestion } from './look-up.js'

/** What moving needs. */
export interface MoveDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
}

/** What is needed inside a transaction. */
export interface HoldDeps extends MoveDeps {
  /** Whether the accounts are the store's own. A host with users of its own gives addresses away by itself. @default false */
  readonly holdsAddresses?: boolean | undefined
}

/** What this needs. */
export interface AddressDeps extends HoldDeps {
  readonly store: Pick<Store, 'transaction'>
}

/**
 * The account that an address resolves to. Call it before a verification is locked, as every transaction takes the address first.
 * @param fresh - Answered when the account of before carries another address since, and nobody has this one.
 */
export async function accountOf(
  tx: StoreTransaction,
  email: EmailAddress,
  before: string,
  { holdsAddresses = false }: Pick<HoldDeps, 'holdsAddresses'>,
  fresh: string = before,
): Promise<string> {
  return holdsAddresses ? (await tx.identityAccounts.hold(email, fresh)).accountId : before
}

/** Ends what was begun at an account. If its address was given to another one meanwhile, what was shared goes there. */
export function endAt<T>(
  accountId: string,
  email: EmailAddress,
  deps: AddressDeps,
  work: (tx: StoreTransaction) => Promise<T>,
): Promise<T> {
  return deps.store.transaction(async (tx) => {
    const owner = await accountOf(tx, email, accountId, deps, deps.ids.next())
    if (owner === accountId) return work(tx)
    return withMove(tx, { fromId: accountId, toId: owner, emailKey: email.key }, deps, () => work(tx))
  })
}

/**
 * The same for who learns of the end without the request: a webhook, the poll, an operator. Of an attempt the keyed hash of its address is kept. What did not end
 * here stays, as it may have been shared for another address since. Call it before a verification is locked.
 */
export async function endOf<T>(
  tx: StoreTransaction,
  { accountId, emailKey }: Pick<RedemptionAttempt, 'accountId' | 'emailKey'>,
  deps: HoldDeps,
  work: () => Promise<T>,
): Promise<T> {
  const owner = deps.holdsAddresses === true ? await tx.identityAccounts.holdKnown(emailKey, deps.ids.next()) : null
  if (owner === null || owner === accountId) return work()
  return withMove(tx, { fromId: accountId, toId: owner, emailKey }, deps, work)
}

/** Moves what ended in the work. */
async function withMove<T>(tx: StoreTransaction, move: Move, deps: HoldDeps, work: () => Promise<T>): Promise<T> {
  const [before] = await lockBoth(tx, move.fromId, move.toId)
  const result = await work()
  if (isEnded(before, await tx.verifications.lock(move.fromId))) await moveAlong(tx, move, deps)
  return result
}

/** An address that was given from one account to another. */
export interface Move {
  readonly fromId: string
  readonly toId: string
  /** Keyed hash of the address. */
  readonly emailKey: string
  /** Whether it stays where the other account has one of its own: where its account had proved the address. @default false */
  readonly mayStay?: boolean | undefined
}

/**
 * Moves what was shared for an address to the account that has it. Where that has one of its own it goes to an account that is nobody's, as whoever has the
 * address no more must not keep it. What was shared for another address stays. The attempts stay, so that no name of an applicant is used twice.
 */
export async function moveAlong(
  tx: StoreTransaction,
  { fromId, toId, emailKey, mayStay = false }: Move,
  deps: MoveDeps,
): Promise<void> {
  const [from, to] = await lockBoth(tx, fromId, toId)
  if (!leaves(await withoutIdleClaim(tx, from))) return
  // It names no attempt any more once it moved, so its applicant tells which it came from.
  const attempt = from.applicantId === null ? null : await tx.verifications.redemptionOf(from.applicantId)
  if (attempt?.emailKey !== emailKey) return
  const isTaken = takes(await withoutIdleClaim(tx, to))
  if (!isTaken && mayStay) return
  const target = isTaken ? to : await nobodys(tx, attempt, deps)
  const { donor, applicantId, review, reviewedAt, doubt, presence, missing } = from
  const moved = { donor, applicantId, attempt: null, review, reviewedAt, doubt, presence, missing }
  const kept = await keepQuestion(tx, { ...from, claim: null }, deps.clock)
  await tx.verifications.change(fromId, { ...nothingShared, claim: null, askInMs: null, ...kept })
  // Asked about at once: the question that was due to it lay with the other account.
  await tx.verifications.change(target.accountId, { ...moved, claim: null, askInMs: 0 })
}

/** Locks two verifications in the order of their accounts, so that two who move between the same accounts do not wait for each other. */
export async function lockBoth(
  tx: StoreTransaction,
  one: string,
  other: string,
): Promise<[Verification, Verification]> {
  if (one < other) return [await tx.verifications.lock(one), await tx.verifications.lock(other)]
  const second = await tx.verifications.lock(other)
  return [one === other ? second : await tx.verifications.lock(one), second]
}

/**
 * Holds an address and others of which no more than the keyed hash is known, in the order of their keyed hashes, and tells what leaves an account with them: those
 * that are not its own. Call it before a verification is locked.
 */
export async function movesFrom(
  tx: StoreTransaction,
  accountId: string,
  email: EmailAddress,
  others: readonly string[],
  deps: HoldDeps,
): Promise<Move[]> {
  if (deps.holdsAddresses !== true) return []
  const moves: Move[] = []
  for (const emailKey of [...new Set([email.key, ...others])].sort()) {
    const isItself = emailKey === email.key
    const fresh = deps.ids.next()
    const { identityAccounts } = tx
    const toId = isItself
      ? (await identityAccounts.hold(email, fresh)).accountId
      : await identityAccounts.holdKnown(emailKey, fresh)
    if (toId !== null && toId !== accountId) moves.push({ fromId: accountId, toId, emailKey })
  }
  return moves
}

/** Moves one after the other what several addresses take along. All verifications are locked first, in the order of their accounts. */
export async function moveAll(tx: StoreTransaction, moves: readonly Move[], deps: MoveDeps): Promise<void> {
  if (moves.length > 1) await lockAll(tx, moves)
  for (const move of moves) await moveAlong(tx, move, deps)
}

/** Locks the verifications that move and those that they move to, in the order of their accounts. */
export async function lockAll(tx: StoreTransaction, moves: readonly Move[]): Promise<void> {
  const accountIds = new Set(moves.flatMap(({ fromId, toId }) => [fromId, toId]))
  for (const accountId of [...accountIds].sort()) await tx.verifications.lock(accountId)
}

/** The verification of an account that is nobody's. It is in the log of attempts, so that operators see it. */
async function nobodys(
  tx: StoreTransaction,
  { externalUserId, emailKey, integrationAddress }: RedemptionAttempt,
  { clock, ids }: MoveDeps,
): Promise<Verification> {
  const accountId = ids.next()
  const attempter = { accountId, emailKey, integrationAddress }
  await logAttempt(tx, clock.now(), attempter, 'surplus', { externalUserId })
  return tx.verifications.lock(accountId)
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
