/** Registering accounts and giving proven e-mail addresses to them: how a placeholder becomes somebody's. Source: INTERFACE 4.2 (account resolution order). @module */
import type { AccountEvent, EmailAddress, EmailProof, IdentityAccount } from '../ports/identity-accounts.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Clock, Ids } from '../ports/world.js'
import { decideClaim } from './decide-claim.js'
import type { EmailCodes } from './email-codes.js'
import type { EmailKeys } from './email-keys.js'
import { EmailProofError, ShareRequestError } from './errors.js'
import { lockAll, lockInOrder, type Move, moveAll } from './move-along.js'
import { normaliseEmail } from './normalise-email.js'
import { holdWithCarried } from './unproven.js'

/** What this needs. */
export interface ClaimAccountDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly emails: EmailKeys
  readonly codes: EmailCodes
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
}

/** A code that was made. */
export interface IssuedCode {
  /** The address in its normal form: send the code there, and to no other spelling. */
  readonly address: string
  readonly code: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

/** For whom an address is proven. */
export interface ClaimFor {
  /** The registered account that is signed in. Without one, the address proves the account that it resolves to. */
  readonly accountId?: string | undefined
}

interface Claim {
  readonly proof: EmailProof
  readonly claimFor: ClaimFor
}

/** Registers and claims accounts of the store. Every call is one transaction and leaves its record in the log of accounts. */
export interface AccountClaims {
  /**
   * Registers an account that carries an address unverified. What was shared for the address before stays where it is until somebody proves it.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address.
   */
  register(email: string): Promise<IdentityAccount>
  /**
   * A code for an address, in place of the one before. Whoever calls this sends it to the address that is returned and shows it to nobody.
   * @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address.
   */
  requestCode(email: string): Promise<IssuedCode>
  /**
   * Claims by code. A code is good once, for ten minutes and five tries, and only until the next one is made.
   * @throws EmailProofError `ERR_EMAIL_PROOF` whatever is wrong with it; the log says what.
   */
  claimByCode(email: string, code: string, claimFor?: ClaimFor): Promise<IdentityAccount>
  /**
   * Claims at once, because an integration attests that the address is its user's: only a placeholder, and only by the integration that shared its verification.
   * @throws EmailProofError `ERR_EMAIL_PROOF` when it is not.
   */
  claimByAttestation(email: string, integrationAddress: string, claimFor?: ClaimFor): Promise<IdentityAccount>
}

/** Builds it. */
export function createAccountClaims({ store, emails, codes, clock, ids }: ClaimAccountDeps): AccountClaims {
  function read(input: string): EmailAddress {
    const address = normaliseEmail(input)
    if (address === null) throw new ShareRequestError('email must be a valid email address')
    return emails(address)
  }
  const event = (action: AccountEvent['action'], email: EmailAddress, of: Partial<AccountEvent>): AccountEvent => ({
    ...{ at: clock.now(), action, emailKey: email.key },
    ...{ accountId: null, proof: null, by: null, reason: null },
    ...of,
  })

  /** Gives a proven address away, or logs why not. What was refused is written too, so it is no exception. */
  async function give(
    tx: StoreTransaction,
    email: EmailAddress,
    { proof, claimFor: { accountId } }: Claim,
  ): Promise<IdentityAccount | null> {
    const { held, carried } = await holdWithCarried(tx, email, accountId, ids.next())
    const prover = accountId === undefined ? undefined : await tx.identityAccounts.find(accountId)
    const donor = proof.kind === 'code' ? null : await donorOf(tx, held, prover ?? held)
    const decision = decideClaim({ held, donor, proof, prover })
    const how = { proof: proof.kind, by: proof.kind === 'attestation' ? proof.integrationAddress.toLowerCase() : null }
    if (decision.kind === 'refuse') {
      const { reason } = decision
      await tx.identityAccounts.log(event('refused', email, { ...how, accountId: held.accountId, reason }))
      return null
    }
    const given = decision.accountId
    await tx.identityAccounts.own(email, given)
    const moves: Move[] = []
    // What was shared for an address that it never proved waits for whoever does, also what is under way: that goes there when it ends.
    if (prover?.emailVerified === false && carried !== null) {
      const toId = await tx.identityAccounts.holdKnown(carried, ids.next())
      if (toId !== null) moves.push({ fromId: given, toId, emailKey: carried })
    }
    if (given !== held.accountId) moves.push({ fromId: held.accountId, toId: given, emailKey: email.key })
    await lockAll(tx, moves)
    for (const move of moves) await tx.verifications.passRedemptions(move)
    await moveAll(tx, moves, { clock, ids })
    await tx.identityAccounts.log(event('claimed', email, { ...how, accountId: given }))
    return { accountId: given, kind: 'registered', emailVerified: true }
  }

  async function claim(work: (tx: StoreTransaction) => Promise<IdentityAccount | null>): Promise<IdentityAccount> {
    const account = await store.transaction(work)
    if (account === null) throw new EmailProofError()
    return account
  }

  return {
    async register(input) {
      const email = read(input)
      const accountId = ids.next()
      await store.transaction(async (tx) => {
        await tx.identityAccounts.register(email, accountId)
        await tx.identityAccounts.log(event('registered', email, { accountId }))
      })
      return { accountId, kind: 'registered', emailVerified: false }
    },
    async requestCode(input) {
      const email = read(input)
      const { code, stored } = codes.issue(email.key, clock.now())
      await store.transaction(async (tx) => {
        await tx.identityAccounts.setCode(email.key, stored)
        await tx.identityAccounts.log(event('code_issued', email, { proof: 'code' }))
      })
      return { address: email.address, code, expiresAt: stored.expiresAt }
    },
    async claimByCode(input, typed, claimFor = {}) {
      const email = read(input)
      return claim(async (tx) => {
        const verdict = codes.judge(email.key, typed, await tx.identityAccounts.code(email.key), clock.now())
        if (verdict.kind === 'accepted') {
          await tx.identityAccounts.setCode(email.key, null)
          return give(tx, email, { proof: { kind: 'code' }, claimFor })
        }
        const { reason, left } = verdict
        // Where no code was out there is nothing to write: one that was made since stays. It takes a statement all the same.
        if (reason === 'no_code') await tx.identityAccounts.code(email.key)
        else await tx.identityAccounts.setCode(email.key, left)
        await tx.identityAccounts.log(event('refused', email, { proof: 'code', reason }))
        return null
      })
    },
    async claimByAttestation(input, integrationAddress, claimFor = {}) {
      const email = read(input)
      const proof = { kind: 'attestation', integrationAddress } as const
      return claim((tx) => give(tx, email, { proof, claimFor }))
    },
  }
}

/** Who shared the verification of an account. The one that may be given it is locked too, in order. */
async function donorOf(tx: StoreTransaction, held: IdentityAccount, taker: IdentityAccount): Promise<string | null> {
  await lockInOrder(tx, [held.accountId, taker.accountId])
  return (await tx.verifications.lock(held.accountId)).donor
}
