/** Registers accounts, and decides which of them has a proven address. Source: docs/interface.md 4.2. @module */
import type { EmailAddress, EmailProof, IdentityAccount } from '../ports/identity-accounts.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import type { Clock, Ids } from '../ports/world.js'
import type { AccountEvent, ProofRefusal } from './account-store.js'
import { type EmailCodes, type EmailKeys, parseEmail } from './emails.js'
import { EmailProofError, SharingUnavailableError } from './errors.js'
import type { Subject } from './identity-store.js'
import type { HostProof, IdentityAccountCommands } from './identity-types.js'
import { applyOwner, decideOwner, isSameOwner, ownedBy } from './resolve-account.js'
import { openOf } from './reviews.js'

/** The facts for the decision. */
export interface ProofFacts {
  /** The open subject of the address under its former owner; null: there is none. */
  readonly open: Subject | null
  /** All locked subjects of the account that proved the address. */
  readonly subjects: readonly Subject[]
  /** `host`: the host reported it. */
  readonly proof: EmailProof | { readonly kind: 'host' }
  /** The account that is signed in; null: the id is unknown; undefined: no account is signed in. */
  readonly signedIn: string | null | undefined
  /** The id for a new account. */
  readonly freshId: string
}

/** The decision. */
type ProofDecision =
  | { readonly kind: 'refuse'; readonly reason: Extract<ProofRefusal, `not_${string}` | 'unknown_account'> }
  | {
      readonly kind: 'give'
      readonly accountId: string
      /** Subjects of other addresses that the account had proved: they stay with it, closed. */
      readonly closed: readonly Subject[]
      /** Subjects of other addresses that the account only carried: each goes to the next account that carries it. */
      readonly carried: readonly Subject[]
    }

/**
 * Decides which account gets a proven address. An attestation gives away a placeholder alone, never an account. It
 * must come from the donor. An account proves one address at a time.
 */
export function decideProof({ open, subjects, proof, signedIn, freshId }: ProofFacts): ProofDecision {
  if (proof.kind === 'attestation') {
    if (open !== null && open.accountId !== null) return { kind: 'refuse', reason: 'not_placeholder' }
    if (open === null || open.donor !== proof.integrationAddress.toLowerCase())
      return { kind: 'refuse', reason: 'not_donor' }
  }
  if (signedIn === null) return { kind: 'refuse', reason: 'unknown_account' }
  const accountId = signedIn ?? open?.accountId ?? freshId
  const others = subjects.filter(
    (each) => each.accountId === accountId && each.emailKey !== null && !each.closed && each.id !== open?.id,
  )
  return {
    ...{ kind: 'give', accountId },
    closed: others.filter(({ proved }) => proved),
    carried: others.filter(({ proved }) => !proved),
  }
}

/** A proof of an address. */
interface Proof {
  readonly email: EmailAddress
  readonly proof: EmailProof | { readonly kind: 'host' }
  /** The account that is signed in, or undefined. */
  readonly signedIn: string | undefined
  /** Whether the accounts are in the store; false: a host has its own users. */
  readonly ownsAccounts: boolean
}

/** The result of a proof. */
type ProofResult =
  | { readonly kind: 'given'; readonly accountId: string }
  | { readonly kind: 'refused'; readonly reason: ProofRefusal; readonly accountId: string | null }
  /** Nothing was written: the address has no open subject, or its owner changed. Ensure a subject and begin again. */
  | { readonly kind: 'again' }

/** Gives an address to the account that proved it. The account gives up its other subjects in the same transaction. */
async function proveAddress(tx: StoreTransaction, given: Proof, ids: Ids): Promise<ProofResult> {
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

/** The dependencies of the commands. */
interface IdentityAccountDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly emails: EmailKeys
  readonly codes: EmailCodes
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
  /** Whether the accounts are the store's own. */
  readonly ownsAccounts: boolean
}

/** Most rounds of a proof while other requests change the owner. */
const mostRounds = 4

/** Builds the commands, and the function by which a host reports a proof. */
export function createAccounts({ store, emails, codes, clock, ids, ownsAccounts }: IdentityAccountDeps): {
  readonly commands: IdentityAccountCommands
  proved(proof: HostProof): Promise<void>
} {
  const log = (tx: StoreTransaction, action: AccountEvent['action'], email: EmailAddress, of: Partial<AccountEvent>) =>
    tx.identityAccounts.log({
      ...{ at: clock.now(), action, emailKey: email.key, accountId: null, proof: null, by: null, reason: null },
      ...of,
    })

  /** Gives the address to the account that proved it, or logs the refusal. */
  async function give(tx: StoreTransaction, proof: Proof): Promise<ProofResult> {
    const given = await proveAddress(tx, proof, ids)
    if (given.kind === 'again') return given
    const { kind } = proof.proof
    const by = proof.proof.kind === 'attestation' ? proof.proof.integrationAddress.toLowerCase() : null
    const how = { proof: kind === 'host' ? null : kind, by, accountId: given.accountId }
    if (given.kind === 'given') await log(tx, 'proved', proof.email, how)
    else await log(tx, 'refused', proof.email, { ...how, reason: given.reason })
    return given
  }

  /** Runs `work` again while other requests change the owner. A refusal is committed with its record. */
  async function prove(
    email: EmailAddress,
    work: (tx: StoreTransaction) => Promise<ProofResult | null>,
  ): Promise<IdentityAccount> {
    for (let round = 0; round < mostRounds; round += 1) {
      const given = await store.transaction(work)
      if (given?.kind === 'given') return { accountId: given.accountId, emailVerified: true }
      if (given?.kind !== 'again') throw new EmailProofError()
      await store.transaction((tx) => tx.identity.ensureSubject(email, ids.next()))
    }
    throw new SharingUnavailableError()
  }

  const commands: IdentityAccountCommands = {
    async register(input) {
      const email = parseEmail(input, emails)
      const accountId = ids.next()
      await store.transaction(async (tx) => {
        await tx.identityAccounts.register(email, accountId)
        await log(tx, 'registered', email, { accountId })
      })
      return { accountId, emailVerified: false }
    },
    async requestCode(input) {
      const email = parseEmail(input, emails)
      const { code, stored } = codes.issue(email.key, clock.now())
      await store.transaction(async (tx) => {
        await tx.identityAccounts.setCode(email.key, stored)
        await log(tx, 'code_issued', email, { proof: 'code' })
      })
      return { address: email.address, code, expiresAt: stored.expiresAt }
    },
    async proveByCode(input, typed, { accountId: signedIn } = {}) {
      const email = parseEmail(input, emails)
      const proof = { email, proof: { kind: 'code' }, signedIn, ownsAccounts: true } as const
      return prove(email, async (tx) => {
        const verdict = codes.judge(email.key, typed, await tx.identityAccounts.code(email.key), clock.now())
        if (verdict.kind === 'accepted') {
          const given = await give(tx, proof)
          if (given.kind !== 'again') await tx.identityAccounts.setCode(email.key, null)
          return given
        }
        const { reason, left } = verdict
        // Without a code, a read takes the place of the write: the time stays the same, and a newer code stays.
        if (reason === 'no_code') await tx.identityAccounts.code(email.key)
        else await tx.identityAccounts.setCode(email.key, left)
        await log(tx, 'refused', email, { proof: 'code', reason })
        return null
      })
    },
    async proveByAttestation(input, integrationAddress, { accountId: signedIn } = {}) {
      const email = parseEmail(input, emails)
      const proof: EmailProof = { kind: 'attestation', integrationAddress }
      return prove(email, (tx) => give(tx, { email, proof, signedIn, ownsAccounts: true }))
    },
  }
  return {
    commands,
    async proved({ email: input, accountId }) {
      const email = parseEmail(input, emails)
      await prove(email, (tx) => give(tx, { email, proof: { kind: 'host' }, signedIn: accountId, ownsAccounts }))
    },
  }
}
