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
import type { Kept } from './kept.js'
import { doubtfulAttempts, keepQuestion } from './look-up.js'
import { inFlightMs } from './question-times.js'

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
 * The account that an address resolves to; a placeholder where the account of before carries another address since, and nobody has this one. Call it before a
 * verification is locked, as every transaction takes the address first.
 */
export async function accountOf(
  tx: StoreTransaction,
  email: EmailAddress,
  before: string,
  { holdsAddresses = false, ids }: HoldDeps,
): Promise<string> {
  return holdsAddresses ? (await tx.identityAccounts.hold(email, ids.next())).accountId : before
}

/**
 * Ends what was begun at an account, whoever learns of that: the request, a look-up, a webhook, the poll, an operator. If one of the addresses was given to
 * another account meanwhile, what was shared for it goes there. What did not end here stays, as it may have been shared for another address since. Call it before a
 * verification is locked.
 */
export async function endOf<T>(
  tx: StoreTransaction,
  kept: Kept,
  deps: HoldDeps,
  work: (moves: readonly Move[]) => Promise<T>,
): Promise<T> {
  const { accountId } = kept
  const { moves } = await movesFrom(tx, kept, deps)
  if (moves.length === 0) return work(moves)
  await lockAll(tx, moves)
  const before = await tx.verifications.lock(accountId)
  const result = await work(moves)
  if (isEnded(before, await tx.verifications.lock(accountId))) await moveAll(tx, moves, deps)
  return result
}

/** An address that went from one account to another, and what was shared for it with it. */
export interface Move {
  readonly fromId: string
  readonly toId: string
  /** Keyed hash of the address. */
  readonly emailKey: string
}

/**
 * Holds the addresses of what an account may keep, in the order of their keyed hashes, and tells what leaves it: what was shared for an address that was taken from it.
 * Call it before a verification is locked.
 * @param others - Keyed hashes of addresses that are held, too.
 * @returns `holders`: the account that each address resolves to; null where it was never resolved.
 */
export async function movesFrom(
  tx: StoreTransaction,
  { accountId, attempts }: Kept,
  { holdsAddresses = false, ids }: HoldDeps,
  others: readonly string[] = [],
): Promise<{ readonly moves: readonly Move[]; readonly holders: ReadonlyMap<string, string | null> }> {
  const holders = new Map<string, string | null>()
  if (!holdsAddresses) return { moves: [], holders }
  const keys = new Set([...attempts.map(({ emailKey }) => emailKey), ...others])
  for (const emailKey of [...keys].sort())
    holders.set(emailKey, await tx.identityAccounts.holdKnown(emailKey, ids.next()))
  const moves = new Map<string, Move>()
  for (const { externalUserId, emailKey } of attempts) {
    // What was read before the address was held may be older than the wait for it.
    const attempt = await tx.verifications.redemption(externalUserId)
    const toId = attempt === null ? accountId : ownerOf(attempt)
    if (toId !== accountId) moves.set(`${emailKey} ${toId}`, { fromId: accountId, toId, emailKey })
  }
  return { moves: [...moves.values()], holders }
}

/** Whose an attempt is, and what comes of it. */
export const ownerOf = ({ takenBy, accountId }: RedemptionAttempt): string => takenBy ?? accountId

/** Moves what several addresses take along, one after the other. All verifications are locked first. */
export async function moveAll(tx: StoreTransaction, moves: readonly Move[], deps: MoveDeps): Promise<void> {
  await lockAll(tx, moves)
  for (const move of moves) await moveAlong(tx, move, deps)
}

/**
 * Moves what was shared for an address to the account that took it. What was shared for another address stays, and so does what is not that account's. The attempts
 * stay, so that no name of an applicant is used twice. Where the account has a verification of its own, one that proved the address itself, or is a placeholder, keeps what it has; from
 * any other one it goes to an account that is nobody's then, as whoever has the address no more must not keep it.
 */
async function moveAlong(tx: StoreTransaction, { fromId, toId, emailKey }: Move, deps: MoveDeps): Promise<void> {
  const [from, to] = [await tx.verifications.lock(fromId), await tx.verifications.lock(toId)]
  const kept = await withoutIdleClaim(tx, from)
  // What a redemption for another address brings, or one that is another account's, has nothing to do with it.
  const running = kept.claim === null ? null : await tx.verifications.redemption(kept.claim.externalUserId)
  const isOfOther = running !== null && (running.emailKey !== emailKey || ownerOf(running) !== toId)
  if (!leaves(isOfOther ? { ...kept, claim: null } : kept)) return
  // It names no attempt any more once it moved, so its applicant tells which it came from.
  const attempt = from.applicantId === null ? null : await tx.verifications.redemptionOf(from.applicantId)
  if (attempt?.emailKey !== emailKey || ownerOf(attempt) !== toId) return
  const isTaken = takes(await withoutIdleClaim(tx, to))
  const { identityAccounts: accounts } = tx
  const stays = !isTaken && ((await accounts.find(fromId)) === null || (await accounts.hasProved(fromId, emailKey)))
  const target = isTaken ? to : stays ? from : await nobodys(tx, attempt, deps)
  if (!isTaken) await tx.verifications.keepRedemption(attempt.externalUserId, target.accountId)
  if (stays) return
  const { donor, applicantId, review, reviewedAt, doubt, presence, missing } = from
  const moved = { donor, applicantId, attempt: null, review, reviewedAt, doubt, presence, missing }
  const claim = isOfOther ? {} : { claim: null }
  const question = await keepQuestion(tx, { ...from, attempt: null, ...claim }, deps.clock)
  // A name that nobody had is looked up for a day all the same.
  const isLookedUp = (await doubtfulAttempts(tx, { ...from, attempt: null }, deps.clock)).length > 0
  const askInMs = isLookedUp ? inFlightMs : null
  await tx.verifications.change(fromId, { ...nothingShared, ...claim, askInMs, ...question })
  // Asked about at once: the question that was due to it lay with the other account.
  await tx.verifications.change(target.accountId, { ...moved, claim: null, askInMs: 0 })
}

/** The locked verification of an account, where it takes what was shared for an address that it took; or null. */
export async function takerOf(tx: StoreTransaction, accountId: string): Promise<Verification | null> {
  const to = await withoutIdleClaim(tx, await tx.verifications.lock(accountId))
  return takes(to) ? to : null
}

/** Locks the verifications of accounts in one order, so that two who move between the same accounts do not wait for each other. */
export async function lockInOrder(tx: StoreTransaction, accountIds: Iterable<string>): Promise<void> {
  for (const accountId of [...new Set(accountIds)].sort()) await tx.verifications.lock(accountId)
}

/** Locks the verifications that move and those that they move to. */
export function lockAll(tx: StoreTransaction, moves: readonly Move[]): Promise<void> {
  return lockInOrder(
    tx,
    moves.flatMap(({ fromId, toId }) => [fromId, toId]),
  )
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
