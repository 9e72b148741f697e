/** Resolves an e-mail address to its account. Source: docs/interface.md 4.2 (account resolution order). @module */
import type { AddressOwner, EmailAddress } from '../ports/identity-accounts.js'
import type { StoreTransaction } from '../ports/store.js'
import type { Ids } from '../ports/world.js'
import type { Subject } from './identity-store.js'
import { openOf, personOf } from './reviews.js'

/** An address whose account is resolved. */
export interface AccountQuery {
  readonly email: EmailAddress
  /** The open subject before the owner was resolved. */
  readonly ensured: Subject
  /** The owner of the address by the host's accounts; undefined: the store's own accounts decide. */
  readonly hostOwner: AddressOwner | null | undefined
}

/** The locked subjects of an address. */
export interface ResolvedAccount {
  readonly open: Subject
  /** All subjects of the person, the open one included. */
  readonly subjects: readonly Subject[]
}

/**
 * Locks the person of an address and gives the open subject to the owner of the address. The owner is the account that
 * proved it, else the oldest that carries it. Without an owner the subject is a placeholder.
 *
 * @returns Null when the owner changed while the lock was awaited: ensure the subject and begin again.
 */
export async function resolveAccount(
  tx: StoreTransaction,
  { email, ensured, hostOwner }: AccountQuery,
  ids: Ids,
): Promise<ResolvedAccount | null> {
  const resolve = () => (hostOwner === undefined ? tx.identityAccounts.resolve(email.key) : Promise.resolve(hostOwner))
  const owner = await resolve()
  const accountIds = owner === null ? [] : [owner.accountId]
  const locked = await tx.identity.lockPersons({ emailKey: email.key, accountIds })
  const found = openOf(locked, email.key)
  if (found === null || !isSameOwner(await resolve(), owner)) return null
  if (hostOwner !== undefined && !isOwnedAs(found, ensured)) return null
  const open = await applyOwner(tx, found, { decision: decideOwner(found, owner), owner, email, ids })
  return { open, subjects: personOf(open, locked) }
}

/** The decision about the open subject of an address. */
export type OwnerDecision =
  | { readonly kind: 'same' }
  /** It belongs to that account from now on; null: it is a placeholder. */
  | { readonly kind: 'set'; readonly accountId: string | null; readonly proved: boolean }
  /** It stays with its account, closed. The owner of the address gets a new subject. */
  | { readonly kind: 'replace' }

const same: OwnerDecision = { kind: 'same' }

/**
 * Decides by the current owner of the address; null: it has none. A proved subject never changes its account, so that a
 * new owner of a mailbox sees nothing of the former owner. An unproved subject follows its address. A placeholder with
 * redemptions waits for a proof.
 */
export function decideOwner(
  open: Pick<Subject, 'accountId' | 'proved' | 'redemptions'>,
  owner: AddressOwner | null,
): OwnerDecision {
  const isOwners = owner !== null && open.accountId === owner.accountId
  if (owner?.proved === true) {
    if (open.proved) return isOwners ? same : { kind: 'replace' }
    return { kind: 'set', accountId: owner.accountId, proved: true }
  }
  if (isOwners) return same
  if (open.proved) return { kind: 'replace' }
  // An account that registers without a proof gets no earlier share.
  if (open.accountId === null && (owner === null || open.redemptions > 0)) return same
  return { kind: 'set', accountId: owner?.accountId ?? null, proved: false }
}

/** A decision about the open subject of an address. */
export interface OwnerChange {
  readonly decision: OwnerDecision
  /** The owner of the address now; null: it has none. */
  readonly owner: AddressOwner | null
  readonly email: EmailAddress
  readonly ids: Ids
}

/** Writes a decision about the open subject of an address. It resolves the open subject from then on. */
export async function applyOwner(
  { identity }: StoreTransaction,
  open: Subject,
  { decision, owner, email, ids }: OwnerChange,
): Promise<Subject> {
  const { accountId, proved } = ownedBy(open, decision)
  if (decision.kind === 'replace') {
    await identity.setOwner(open.id, { closed: true })
    const newOwner = { accountId: owner?.accountId ?? null, proved: owner?.proved ?? false }
    return identity.insertSubject({ id: ids.next(), emailKey: email.key, email, ...newOwner })
  }
  // Written in every case, so that the time reveals neither an account nor an earlier share.
  await identity.setOwner(open.id, { accountId, proved })
  return { ...open, accountId, proved }
}

/** Whether two reads found the same owner. */
export function isSameOwner(one: AddressOwner | null, other: AddressOwner | null): boolean {
  return one?.accountId === other?.accountId && one?.proved === other?.proved
}

/** The open subject as a decision leaves it. */
export function ownedBy(open: Subject, decision: OwnerDecision): Subject {
  if (decision.kind !== 'set') return open
  const { accountId, proved } = decision
  return { ...open, accountId, proved }
}

function isOwnedAs(now: Subject, before: Subject): boolean {
  return now.id === before.id && now.accountId === before.accountId && now.proved === before.proved
}
