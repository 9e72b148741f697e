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
  /** Whether the accounts are the store's own. A host has its users itself. */
  readonly ownsAccounts: boolean
}

/** What became of it. */
export type Given =
  | { readonly kind: 'given'; readonly accountId: string }
  | { readonly kind: 'refused'; readonly reason: ProofRefusal; readonly accountId: string | null }
  /** Nothing was written: the address has no open subject, or its owner changed. Ensure one, and begin again. */
  | { readonly kind: 'again' }

/** Gives an address to who proved it, in one transaction with the subjects that its account gives up. */
export async function giveToProver(tx: StoreTransaction, given: Proof, ids: Ids): Promise<Given> {
  const { email, proof, signedIn, ownsAccounts } = given
  const { identity, identityAccounts } = tx
  const resolve = () => (ownsAccounts ? identityAccounts.resolve(email.key) : Promise.resolve(null))
  const owner = await resolve()
  const accountIds = [signedIn, owner?.accountId].filter((id) => id !== undefined)
  const subjects = await identity.lockPersons({ emailKey: email.key, accountIds })
  if (!isSameOwner(await resolve(), owner)) return { kind: 'again' }

  const found = openOf(subjects, email.key)
  if (found === null && proof.kind !== 'attestation') return { kind: 'again' }
  // A placeholder that nothing was shared for is the carrier's already.
  const open = found !== null && ownsAccounts ? ownedBy(found, decideOwner(found, owner)) : found
  const isUnknown = ownsAccounts && signedIn !== undefined && (await identityAccounts.find(signedIn)) === null
  const facts = { open, subjects, proof, signedIn: isUnknown ? null : signedIn, freshId: ids.next() }
  const decision = decideProof(facts)
  if (decision.kind === 'refuse')
    return { kind: 'refused', reason: decision.reason, accountId: open?.accountId ?? null }

  const { accountId } = decision
  if (ownsAccounts) await identityAccounts.own(email, accountId)
  for (const { id } of decision.closed) await identity.setOwner(id, { closed: true })
  for (const each of decision.letGo) await letGo(tx, each, ownsAccounts)
  const prover = { accountId, proved: true }
  if (found !== null) await applyOwner(tx, found, { decision: decideOwner(found, prover), owner: prover, email, ids })
  return { kind: 'given', accountId }
}

/** An account only carried that address: it goes to the next account that does, else it is a placeholder. */
async function letGo(
  { identity, identityAccounts }: StoreTransaction,
  { id, emailKey }: Subject,
  ownsAccounts: boolean,
) {
  const next = ownsAccounts && emailKey !== null ? await identityAccounts.resolve(emailKey) : null
  if (next !== null) await identity.lockPersons({ accountIds: [next.accountId] })
  await identity.setOwner(id, { accountId: next?.accountId ?? null, proved: false })
}
