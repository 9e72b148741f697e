/**
 * Sharing a verification: one redemption, whoever asks how often. Source: INTERFACE 3 (KYC attachment), 4.2; DESIGN section 3, 5.4.
 *
 * A claim is committed before the provider is called, so that of two requests one redeems. Each attempt that may send a token has a name of its own
 * there, which is kept: before another token is sent, the provider is asked about the names whose end nobody knows, and who is found is credited to the
 * integration whose attempt it was.
 * @module
 */
import type { ShareResponse } from '@payment-integration/contract'
import type { IdentityAccounts } from '../ports/identity-accounts.js'
import type { IdentityProvider, Review } from '../ports/identity-provider.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { RedemptionAttempt, Verification } from '../ports/store-verifications.js'
import type { Ids, Logger } from '../ports/world.js'
import { attach } from './attach.js'
import { type Attempter, logAttempt } from './attempt-log.js'
import { claimLeaseMs, patienceMs } from './claim-times.js'
import { decideShare, notStarted } from './decide-share.js'
import type { EmailKeys } from './email-keys.js'
import { IdentityUnavailableError, VerificationUnavailableError } from './errors.js'
import { checkNamespace, defaultNamespace, externalUserIdOf } from './external-user-id.js'
import { isFor, type Kept, keptAt } from './kept.js'
import { doubtfulAttempts, endAbsent, type LookedUp, lookUp } from './look-up.js'
import { type AddressDeps, accountOf, endOf, lockAll, moveAll, movesFrom } from './move-along.js'
import { createRedeem, type Held, refusalError } from './redeem.js'

export { claimLeaseMs } from './claim-times.js'

/** Claims that end one after the other while a request looks: more than that, and it answers 503. */
const mostRounds = 4

/** What sharing needs. */
export interface ShareDeps extends AddressDeps {
  readonly accounts: Pick<IdentityAccounts, 'resolve'>
  readonly provider: IdentityProvider
  readonly emails: EmailKeys
  readonly ids: Ids
  readonly logger: Logger
  /** Begins the names of applicants: tells this service and environment from others at the provider. @default 'pi' */
  readonly namespace?: string | undefined
}

/** A share request that was read and checked. */
export interface ShareInput {
  readonly integrationAddress: string
  /** Normalised. */
  readonly email: string
  /** Verbatim. It is given to the provider, and to nothing else. */
  readonly shareToken: string
}

type Step =
  | { readonly kind: 'answer'; readonly review: Review }
  | { readonly kind: 'not_donated' | 'unavailable' | 'again' }
  | { readonly kind: 'redeem'; readonly held: Held }
  | {
      readonly kind: 'look_up'
      readonly held: Held
      readonly doubtful: readonly RedemptionAttempt[]
      readonly kept: Kept
    }

/**
 * Builds the use case.
 * It rejects with VerificationUnavailableError, ShareTokenRejectedError, IdentityUnavailableError, IdentityMisconfiguredError; StoreError.
 * After any of them the same request may be sent again: what was redeemed is found, and nothing is redeemed twice.
 * @throws TypeError When the name space is malformed.
 */
export function createShare(deps: ShareDeps): (input: ShareInput) => Promise<ShareResponse> {
  const { store, accounts, provider, emails, clock, ids, logger } = deps
  const namespace = checkNamespace(deps.namespace ?? defaultNamespace)
  const redeem = createRedeem(deps)

  return async ({ integrationAddress, email: address, shareToken }) => {
    const email = emails(address)
    const { accountId } = await accounts.resolve(email)
    let caller: Attempter = { accountId, emailKey: email.key, integrationAddress }
    for (let round = 0; round < mostRounds; round += 1) {
      const begun = await inTransaction(async (tx, until) => {
        // Somebody may have proved the address since: then it is another account's.
        caller = { ...caller, accountId: await accountOf(tx, email, caller.accountId, deps) }
        return begin(tx, caller, until)
      })
      const step = begun.kind === 'look_up' ? await resolve(caller, begun) : begun
      if (step.kind === 'answer') return { ...step.review, reused: false }
      if (step.kind === 'not_donated') throw new VerificationUnavailableError()
      if (step.kind === 'unavailable') throw new IdentityUnavailableError(patienceMs)
      const answer = step.kind === 'redeem' ? await redeem(step.held, shareToken) : null
      if (answer !== null) return answer
    }
    await store.transaction((tx) => logAttempt(tx, clock.now(), caller, 'exhausted'))
    throw new IdentityUnavailableError(patienceMs)
  }

  /** `until`: when a claim that is made inside ends at the earliest. */
  function inTransaction(work: (tx: StoreTransaction, until: number) => Promise<Step>): Promise<Step> {
    const until = clock.now() + claimLeaseMs
    return store.transaction((tx) => work(tx, until))
  }

  async function begin(tx: StoreTransaction, caller: Attempter, until: number): Promise<Step> {
    const found = await tx.verifications.lock(caller.accountId)
    const decision = decideShare(found, caller.integrationAddress)
    if (decision.kind === 'not_donated' || (decision.kind === 'answer' && decision.outcome !== 'concurrent')) {
      await logAttempt(tx, clock.now(), caller, decision.kind === 'answer' ? decision.outcome : decision.kind)
      return decision
    }
    const doubtful = await doubtfulAttempts(tx, found, clock)
    if (decision.kind === 'answer') {
      // Whose token may have been redeemed is not told that it was left alone.
      const isDoubted = doubtful.some((attempt) => isLost(attempt, found) && isOf(attempt, caller))
      await logAttempt(tx, clock.now(), caller, isDoubted ? 'unknown' : 'concurrent')
      if (isDoubted) return { kind: 'unavailable' }
      // What was shared for an address that its account lost, or gave up, leaves it when the claim ends: it is not told until then.
      const isTold = deps.holdsAddresses !== true || (await isFor(tx, found, caller.emailKey))
      return isTold ? decision : { ...decision, review: notStarted }
    }
    // A claim that its process left: what it kept at the account may have to leave it.
    const isLeft = decision.kind === 'resolve' && found.applicantId !== null
    if (doubtful.length === 0 && !isLeft) return decide(tx, caller, found, { token: ids.next(), until })
    const held = newClaim(caller, found, { token: ids.next(), until })
    await tx.verifications.change(caller.accountId, {
      ...{ attempts: held.number, claim: claimOf(held, claimLeaseMs) },
      ...{ askInMs: claimLeaseMs, askUnless: 'sooner' },
    })
    return { kind: 'look_up', held, doubtful, kept: await keptAt(tx, found, doubtful) }
  }

  /** Decides without the claim of before, which is over, and makes one where a token is to be redeemed. */
  async function decide(
    tx: StoreTransaction,
    caller: Attempter,
    found: Verification,
    own: Pick<Held, 'token' | 'until'> & { readonly number?: number },
  ): Promise<Step> {
    const { accountId } = caller
    const decision = decideShare({ ...found, claim: null }, caller.integrationAddress)
    if (decision.kind !== 'redeem') {
      await tx.verifications.change(accountId, { claim: null })
      return { kind: 'again' }
    }
    const held = newClaim(caller, found, own)
    const { token: _, until: __, ...attempt } = held
    const { levelName = null, findsByName = true } = provider
    await tx.verifications.addRedemption({
      ...{ ...attempt, levelName, isFindable: findsByName, claimedAt: clock.now() },
      ...{ takenBy: null, state: 'claimed', applicantId: null },
    })
    await tx.verifications.change(accountId, {
      ...{ attempts: held.number, claim: claimOf(held, claimLeaseMs) },
      askInMs: claimLeaseMs,
    })
    await logAttempt(tx, clock.now(), caller, 'claimed', held)
    return { kind: 'redeem', held }
  }

  /** Finds out what became of attempts of before. When nothing did, the caller's token may be redeemed. */
  async function resolve(caller: Attempter, begun: Extract<Step, { kind: 'look_up' }>): Promise<Step> {
    const { held, doubtful, kept } = begun
    const { accountId, emailKey } = caller
    const looked = await lookUp(provider, doubtful, logger, caller.integrationAddress)
    switch (looked.kind) {
      case 'failed':
        await release(held, looked)
        throw refusalError(looked.refusal)
      case 'found':
        await store.transaction((tx) =>
          endOf(tx, kept, deps, async (moves) => {
            await endClaim(tx, held)
            await attach(tx, { ...looked, outcome: 'found', source: 'look_up' }, deps, moves)
          }),
        )
        return { kind: 'again' }
      case 'none':
        return inTransaction(async (tx, until) => {
          const { moves, holders } = await movesFrom(tx, kept, deps, [emailKey])
          // It was given to another account meanwhile, or given up: the token is for whoever has it now.
          const isGone = (holders.get(emailKey) ?? accountId) !== accountId
          await lockAll(tx, moves)
          const found = await tx.verifications.lock(accountId)
          if (found.claim?.token !== held.token) return { kind: 'again' }
          if (await endAbsent(tx, doubtful, looked.foreign, deps)) {
            if (moves.length === 0 && !isGone) return decide(tx, caller, found, { ...held, until })
            await tx.verifications.change(accountId, { claim: null })
            await moveAll(tx, moves, deps)
            if (isGone) return { kind: 'again' }
            return decide(tx, caller, await tx.verifications.lock(accountId), { ...held, until })
          }
          await logAttempt(tx, clock.now(), caller, 'unresolved')
          await tx.verifications.change(accountId, { claim: claimOf(held, 0) })
          return { kind: 'unavailable' }
        })
    }
  }

  /** Lets whoever comes next look at once. */
  async function release(held: Held, { refusal }: Extract<LookedUp, { kind: 'failed' }>): Promise<void> {
    const { accountId } = held
    await store.transaction(async (tx) => {
      const { claim } = await tx.verifications.lock(accountId)
      if (claim?.token === held.token) await tx.verifications.change(accountId, { claim: claimOf(held, 0) })
      await logAttempt(tx, clock.now(), held, refusal.kind, held)
    })
  }

  async function endClaim(tx: StoreTransaction, held: Held): Promise<void> {
    const { claim } = await tx.verifications.lock(held.accountId)
    if (claim?.token === held.token) await tx.verifications.change(held.accountId, { claim: null })
  }

  function newClaim(
    caller: Attempter,
    { attempts, applicantId }: Verification,
    { token, until, number = attempts + 1 }: Pick<Held, 'token' | 'until'> & { readonly number?: number },
  ): Held {
    const externalUserId = externalUserIdOf(namespace, caller.accountId, number)
    return { ...caller, token, until, number, externalUserId, replaces: applicantId }
  }
}

/** Whether nobody waits for the answer of an attempt any more. */
function isLost({ state, externalUserId }: RedemptionAttempt, { claim }: Verification): boolean {
  return (
    state === 'unknown' || state === 'unresolved' || (state === 'claimed' && claim?.externalUserId !== externalUserId)
  )
}

function isOf(attempt: RedemptionAttempt, { integrationAddress }: Attempter): boolean {
  return attempt.integrationAddress === integrationAddress
}

function claimOf({ token, integrationAddress: by, externalUserId }: Held, leaseMs: number) {
  return { token, by, externalUserId, leaseMs }
}
