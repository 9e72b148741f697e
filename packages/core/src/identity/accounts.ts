/** The service's own accounts, and proofs of addresses. Source: docs/decisions/identity.md. @module */
import { EmailProofError, IdentityUnavailableError } from '../errors.js'
import type { EmailAddress, EmailProof, IdentityAccount } from '../ports/identity.js'
import type { Clock, IdSource } from '../ports/runtime.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import { type EmailCodes, parseAndSealEmail, type SealEmail } from './emails.js'
import type { AccountEvent, IdentitySubject, ProofRejection } from './identity-store.js'
import { decideAccountOrPlaceholder, findOpenSubject, isSameOwner, setSubjectOwner } from './resolve-account.js'

export interface IssuedCode {
  /** The address in its normal form: send the code there, and to no other spelling. */
  readonly address: string
  readonly code: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

export interface ProofOptions {
  /** The account that is signed in. @default the account of the address; for a placeholder, a new account */
  readonly accountId?: string | undefined
}

/** A host's report that its user just proved an address. */
export interface HostProof {
  readonly email: string
  readonly accountId: string
}

export interface ProofFacts {
  /** The open subject of the address before the proof; null: there is none. */
  readonly openSubject: IdentitySubject | null
  /** All subjects of the address's owner and of the account that is signed in. */
  readonly subjects: readonly IdentitySubject[]
  readonly proof: EmailProof | { readonly kind: 'host' }
  /** The account that is signed in; null: the id is unknown; undefined: no account is signed in. */
  readonly signedIn: string | null | undefined
  readonly freshId: string
}

/**
 * Decides a proof. Only the donor of a placeholder may attest its address. An account has one proved address: its other
 * proved subjects are `closed`. The subjects of addresses that it only `carried` go to their next carrier.
 */
export function decideProof({ openSubject, subjects, proof, signedIn, freshId }: ProofFacts) {
  const reject = <Reason extends ProofRejection>(reason: Reason) => ({ kind: 'reject', reason }) as const
  if (proof.kind === 'attestation') {
    if (openSubject !== null && openSubject.accountId !== null) return reject('not_placeholder')
    if (openSubject?.donor !== proof.integrationAddress.toLowerCase()) return reject('not_donor')
  }
  if (signedIn === null) return reject('unknown_account')
  const accountId = signedIn ?? openSubject?.accountId ?? freshId
  const otherSubjects = subjects.filter(
    (each) => each.accountId === accountId && each.emailKey !== null && !each.closed && each.id !== openSubject?.id,
  )
  const closed = otherSubjects.filter(({ proved }) => proved)
  return { kind: 'give', accountId, closed, carried: otherSubjects.filter(({ proved }) => !proved) } as const
}

/**
 * The account that proved the address; null: the proof was rejected, with a record in the log. `again`: nothing was
 * written, because the address has no open subject or its owner changed. Ensure a subject and begin again.
 */
type ProofResult = IdentityAccount | 'again' | null

interface IdentityAccountDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly sealEmail: SealEmail
  readonly codes: EmailCodes
  readonly clock: Pick<Clock, 'now'>
  readonly ids: IdSource
  /** False: a host has its own users, and reports their proofs. */
  readonly hasStoreAccounts: boolean
}

type NewEvent = Pick<AccountEvent, 'action'> & Partial<AccountEvent>

/** The most rounds of a proof. A further round follows when another request changed the owner. */
const maxRounds = 4

/** The store's own accounts. Each call adds its event to the log of accounts in the same transaction. */
export type IdentityAccountCommands = Omit<ReturnType<typeof createAccounts>, 'reportProof'>

export function createAccounts(deps: IdentityAccountDeps) {
  const { store, sealEmail, codes, clock, ids } = deps
  function log({ identityAccounts }: StoreTransaction, { key }: EmailAddress, event: NewEvent) {
    const noFacts = { accountId: null, proof: null, by: null, reason: null }
    return identityAccounts.log({ at: clock.now(), emailKey: key, ...noFacts, ...event })
  }

  /** Gives an address to the account that proved it. The account gives up its other subjects in this transaction. */
  async function giveAddress(
    tx: StoreTransaction,
    email: EmailAddress,
    proof: ProofFacts['proof'],
    signedIn: string | undefined,
  ): Promise<ProofResult> {
    const usesStoreAccounts = proof.kind !== 'host' || deps.hasStoreAccounts
    const { identity, identityAccounts } = tx
    const findOwner = () => (usesStoreAccounts ? identityAccounts.findAddressOwner(email.key) : Promise.resolve(null))
    const owner = await findOwner()
    const accountIds = [signedIn, owner?.accountId].filter((id) => id !== undefined)
    const subjects = await identity.lockPersons({ emailKey: email.key, accountIds })
    if (!isSameOwner(await findOwner(), owner)) return 'again'

    const subject = findOpenSubject(subjects, email.key)
    if (subject === null && proof.kind !== 'attestation') return 'again'
    // A placeholder without a share belongs to the account that carries the address.
    const openSubject = subject && { ...subject, ...(usesStoreAccounts && decideAccountOrPlaceholder(subject, owner)) }
    const isUnknown = usesStoreAccounts && signedIn !== undefined && (await identityAccounts.find(signedIn)) === null
    const facts = { openSubject, subjects, proof, freshId: ids.next() }
    const decision = decideProof({ ...facts, signedIn: isUnknown ? null : signedIn })
    const by = proof.kind === 'attestation' ? proof.integrationAddress.toLowerCase() : null
    const logged = { proof: proof.kind === 'host' ? null : proof.kind, by }
    if (decision.kind === 'reject') {
      const accountId = openSubject?.accountId ?? null
      await log(tx, email, { action: 'rejected', ...logged, accountId, reason: decision.reason })
      return null
    }

    const { accountId } = decision
    if (usesStoreAccounts) await identityAccounts.setProvedOwner(email, accountId)
    for (const { id } of decision.closed) await identity.setOwner(id, { closed: true })
    for (const { id, emailKey } of decision.carried) {
      // No carrier: the subject becomes a placeholder.
      const next = usesStoreAccounts && emailKey !== null ? await identityAccounts.findAddressOwner(emailKey) : null
      if (next !== null) await identity.lockPersons({ accountIds: [next.accountId] })
      await identity.setOwner(id, { accountId: next?.accountId ?? null, proved: false })
    }
    if (subject !== null) await setSubjectOwner(tx, subject, { accountId, proved: true }, email, ids)
    await log(tx, email, { action: 'proved', ...logged, accountId })
    return { accountId, emailVerified: true }
  }

  /** Runs `work` again while other requests change the owner. A rejection is committed with its record. */
  async function prove(email: EmailAddress, work: (tx: StoreTransaction) => Promise<ProofResult>) {
    for (let round = 0; round < maxRounds; round += 1) {
      const result = await store.transaction(work)
      if (result === null) throw new EmailProofError()
      if (result !== 'again') return result
      await store.transaction((tx) => tx.identity.ensureSubject(email, ids.next()))
    }
    throw new IdentityUnavailableError()
  }

  return {
    /**
     * Registers an account that carries an address unverified. The account gets no earlier share of the address.
     * @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID` for an invalid address.
     */
    async register(input: string): Promise<IdentityAccount> {
      const email = parseAndSealEmail(input, sealEmail)
      const accountId = ids.next()
      await store.transaction(async (tx) => {
        await tx.identityAccounts.register(email, accountId)
        await log(tx, email, { action: 'registered', accountId })
      })
      return { accountId, emailVerified: false }
    },
    /**
     * Issues a code for an address; an earlier code is no longer valid. Send the code to the returned address, and show
     * it nowhere else.
     * @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID` for an invalid address.
     */
    async requestCode(input: string): Promise<IssuedCode> {
      const email = parseAndSealEmail(input, sealEmail)
      const { code, stored } = codes.issue(email.key, clock.now())
      await store.transaction(async (tx) => {
        await tx.identityAccounts.setCode(email.key, stored)
        await log(tx, email, { action: 'code_issued', proof: 'code' })
      })
      return { address: email.address, code, expiresAt: stored.expiresAt }
    },
    /**
     * Proves an address by code. A code is valid once, for ten minutes and five tries, until the next one is issued.
     * @throws EmailProofError `ERR_EMAIL_PROOF` for any flaw; the log has the reason.
     */
    async proveByCode(input: string, code: string, { accountId: signedIn }: ProofOptions = {}) {
      const email = parseAndSealEmail(input, sealEmail)
      return prove(email, async (tx) => {
        const stored = await tx.identityAccounts.lockCode(email.key)
        const { rejection, nextCode } = codes.judge(email.key, code, stored, clock.now())
        if (rejection !== null) {
          // Without a code, a read replaces the write: the timing is the same, and a newer code stays.
          if (rejection === 'no_code') await tx.identityAccounts.lockCode(email.key)
          else await tx.identityAccounts.setCode(email.key, nextCode)
          await log(tx, email, { action: 'rejected', proof: 'code', reason: rejection })
          return null
        }
        const result = await giveAddress(tx, email, { kind: 'code' }, signedIn)
        if (result !== 'again') await tx.identityAccounts.setCode(email.key, null)
        return result
      })
    },
    /**
     * Proves an address by an integration's attestation. Only the donor of a placeholder may attest its address.
     * @throws EmailProofError `ERR_EMAIL_PROOF` otherwise.
     */
    async proveByAttestation(input: string, integrationAddress: string, { accountId: signedIn }: ProofOptions = {}) {
      const email = parseAndSealEmail(input, sealEmail)
      return prove(email, (tx) => giveAddress(tx, email, { kind: 'attestation', integrationAddress }, signedIn))
    },
    async reportProof({ email: input, accountId }: HostProof): Promise<void> {
      const email = parseAndSealEmail(input, sealEmail)
      await prove(email, (tx) => giveAddress(tx, email, { kind: 'host' }, accountId))
    },
  }
}
