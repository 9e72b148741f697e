/** Gives a proven e-mail address to its account. Source: docs/interface.md 4.2. @module */
import type { EmailAddress, EmailProof, ProofRefusal } from '../ports/identity-accounts.js'
import type { Subject } from '../ports/store-identity.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Ids } from '../ports/world.js'
import { decideProof } from './decide-proof.js'
import { openOf } from './decide-subject.js'
import { applyOwner, decideOwner, isSameOwner, ownedBy } from './resolve-account.js'

/** A proof of an address. */
export interface Proof {
  readonly email: EmailAddress
  readonly proof: EmailProof | { readonly kind: 'host' }
  /** The account that is signed in, or undefined. */
  readonly signedIn: string | undefined
  /** Whether the accounts are in the store; false: a host has its own users. */
  readonly ownsAccounts: boolean
}

/** The result of a proof. */
export type ProofResult =
  | { readonly kind: 'given'; readonly accountId: string }
  | { readonly kind: 'refused'; readonly reason: ProofRefusal; readonly accountId: string | null }
  /** Nothing was written: the address has no open subject, or its owner changed. Ensure a subject and begin again. */
  | { readonly kind: 'again' }

/** Gives an address to the account that proved it. The account gives up its other subjects in the same transaction. */
export async function proveAddress(tx: StoreTransaction, given: Proof, ids: Ids): Promise<ProofResult> {
  const { email, proof, signedIn, ownsAccounts } = given
  const { identity, identityAccounts } = tx
  const resolve = () => (ownsAccounts ? identityAccounts.resolve(email.key) : Promise.resolve(null))
  const owner = await resolve()
  const accountIds = [signedIn, owner?.accountId].filter((id) => id !== undefined)
  const subjects = await identity.lockPersons({ emailKey: email.key, accountIds })
  if (!isSameOwner(await resolve(), owner)) return { kind: 'again' }

  const found = openOf(subjects, email.key)
  if (found === null && proof.kind !== 'attestation') return { kind: 'again' }
  // A placeholder without a share belongs to the account that carries the address.
  const open = found !== null && ownsAccounts ? ownedBy(found, decideOwner(found, owner)) : found
  const isUnknown = ownsAccounts && signedIn !== undefined && (await identityAccounts.find(signedIn)) === null
  const facts = { open, subjects, proof, signedIn: isUnknown ? null : signedIn, freshId: ids.next() }
  const decision = decideProof(facts)
  if (decision.kind === 'refuse')
    return { kind: 'refused', reason: decision.reason, accountId: open?.accountId ?? null }

  const { accountId } = decision
  if (ownsAccounts) await identityAccounts.own(email, accountId)
  for (const { id } of decision.closed) await identity.setOwner(id, { closed: true })
  for (const each of decision.carried) await giveToNextCarrier(tx, each, ownsAccounts)
  const prover = { accountId, proved: true }
  if (found !== null) await applyOwner(tx, found, { decision: decideOwner(found, prover), owner: prover, email, ids })
  return { kind: 'given', accountId }
}

/** Gives a carried subject to the next account that carries its address; without one it becomes a placeholder. */
async function giveToNextCarrier(
  { identity, identityAccounts }: StoreTransaction,
  { id, emailKey }: Subject,
  ownsAccounts: boolean,
) {
  const next = ownsAccounts && emailKey !== null ? await identityAccounts.resolve(emailKey) : null
  if (next !== null) await identity.lockPersons({ accountIds: [next.accountId] })
  await identity.setOwner(id, { accountId: next?.accountId ?? null, proved: false })
}
