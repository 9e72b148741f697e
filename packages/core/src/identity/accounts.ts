/** Registers accounts and accepts proofs of e-mail addresses. Source: docs/interface.md 4.2. @module */
import type { EmailCodes } from '../emails/email-codes.js'
import { type EmailKeys, parseEmail } from '../emails/email-keys.js'
import type { HostProof, IdentityAccountCommands } from '../identity-types.js'
import type { AccountEvent, EmailAddress, EmailProof, IdentityAccount } from '../ports/identity-accounts.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Clock, Ids } from '../ports/world.js'
import { EmailProofError, SharingUnavailableError } from './errors.js'
import { type Proof, type ProofResult, proveAddress } from './prove-address.js'

/** The dependencies of the commands. */
export interface IdentityAccountDeps {
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
