/** Resolves the account of a share, which no answer reveals. Source: docs/interface.md 4.2. @module */
import type { AddressOwner, EmailAddress } from '../ports/identity.js'
import type { IdSource } from '../ports/runtime.js'
import type { StoreTransaction } from '../ports/store.js'
import type { IdentitySubject } from './identity-store.js'

export interface AccountQuery {
  readonly email: EmailAddress
  /** The open subject before the owner was resolved. */
  readonly ensured: IdentitySubject
  /** The owner of the address by the host's accounts; undefined: the store's own accounts decide. */
  readonly hostOwner: AddressOwner | null | undefined
}

/** Locks a person and gives the open subject to the owner of its address. Null: the owner changed, begin again. */
export async function lockAndSetOwner(
  tx: StoreTransaction,
  { email, ensured, hostOwner }: AccountQuery,
  ids: IdSource,
): Promise<{ readonly openSubject: IdentitySubject; readonly subjects: readonly IdentitySubject[] } | null> {
  const findOwner = () =>
    hostOwner === undefined ? tx.identityAccounts.findAddressOwner(email.key) : Promise.resolve(hostOwner)
  const owner = await findOwner()
  const accountIds = owner === null ? [] : [owner.accountId]
  const locked = await tx.identity.lockPersons({ emailKey: email.key, accountIds })
  const subject = findOpenSubject(locked, email.key)
  if (subject === null || !isSameOwner(await findOwner(), owner)) return null
  if (hostOwner !== undefined && !(subject.id === ensured.id && isSameOwner(subject, ensured))) return null
  const openSubject = await setSubjectOwner(tx, subject, owner, email, ids)
  const others = locked.filter(({ id, accountId }) => id !== openSubject.id && accountId === openSubject.accountId)
  return { openSubject, subjects: openSubject.accountId === null ? [openSubject] : [...others, openSubject] }
}

type Owner = Pick<IdentitySubject, 'accountId' | 'proved'>

export function isSameOwner(one: Owner | null, other: Owner | null): boolean {
  return one?.accountId === other?.accountId && one?.proved === other?.proved
}

/**
 * Decides whether a subject belongs to an account or is a placeholder, by the current owner of its address; null: the
 * address has none. A proved subject never changes its account, so that a new owner of a mailbox sees nothing of the
 * former owner. An unproved subject follows its address. A placeholder with redemptions waits for a proof.
 * @returns Null: the subject stays with its account, closed. The owner of the address gets a new subject.
 */
export function decideAccountOrPlaceholder(
  { accountId, proved, redemptions }: Owner & Pick<IdentitySubject, 'redemptions'>,
  owner: AddressOwner | null,
): Owner | null {
  if (proved) return owner?.accountId === accountId ? { accountId, proved } : null
  if (owner?.proved === true) return { accountId: owner.accountId, proved: true }
  // An account that registers without a proof gets no earlier share.
  const waitsForProof = accountId === null && redemptions > 0
  return { accountId: waitsForProof ? null : (owner?.accountId ?? null), proved: false }
}

/** Gives the open subject of an address to the owner. Resolves the open subject from then on. */
export async function setSubjectOwner(
  { identity }: StoreTransaction,
  subject: IdentitySubject,
  owner: AddressOwner | null,
  email: EmailAddress,
  ids: IdSource,
): Promise<IdentitySubject> {
  const decided = decideAccountOrPlaceholder(subject, owner)
  if (decided === null) {
    await identity.setOwner(subject.id, { closed: true })
    const newOwner = { accountId: owner?.accountId ?? null, proved: owner?.proved ?? false }
    return identity.insertSubject({ id: ids.next(), emailKey: email.key, email, ...newOwner })
  }
  // Written in every case, so that timing reveals neither an account nor an earlier share.
  await identity.setOwner(subject.id, decided)
  return { ...subject, ...decided }
}

export function findOpenSubject(subjects: readonly IdentitySubject[], emailKey: string): IdentitySubject | null {
  return subjects.find((each) => each.emailKey === emailKey && !each.closed) ?? null
}
