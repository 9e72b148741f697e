/**
 * Sharing a verification: one redemption, whoever asks how often. Source: INTERFACE 3 (KYC attachment), 4.2; DESIGN section 3, 5.4.
 *
 * A claim is committed before the provider is called, so that of two requests one redeems. It carries the name that the applicant gets there. A claim whose
 * end nobody knows keeps that name, and whoever finds it asks the provider for it before anything is redeemed again.
 * @module
 */
import type { ShareResponse } from '@payment-integration/contract'
import type { IdentityAccounts } from '../ports/identity-accounts.js'
import type { Applicant, IdentityProvider, ProviderRefusal, Review } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { ShareOutcome, VerificationChange } from '../ports/store-verifications.js'
import type { Clock, Ids, Logger } from '../ports/world.js'
import { decideShare, notStarted, type ShareDecision } from './decide-share.js'
import type { EmailKeys } from './email-keys.js'
import {
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  ShareTokenRejectedError,
  VerificationUnavailableError,
} from './errors.js'
import { firstQuestionMs } from './question-times.js'

/** How long a claim is held, in milliseconds: a redemption and a look-up after it must fit, each bounded by the provider's adapter. */
export const claimLeaseMs = 45_000

/** A redemption begins while this much of its lease is left, in milliseconds: a process that was suspended since finds its claim taken over. */
const leastLeftMs = claimLeaseMs / 2

/** How long a caller is asked to wait when the provider names no time, in milliseconds. */
const patienceMs = 5_000

/** Claims that end one after the other while a request looks: more than that, and it answers 503. */
const mostRounds = 4

/** What sharing needs. */
export interface ShareDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly accounts: IdentityAccounts
  readonly provider: IdentityProvider
  readonly emails: EmailKeys
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
  readonly logger: Logger
}

/** A share request that was read and checked. */
export interface ShareInput {
  readonly integrationAddress: string
  /** Normalised. */
  readonly email: string
  /** Verbatim. It is given to the provider, and to nothing else. */
  readonly shareToken: string
}

interface Attempt {
  readonly accountId: string
  readonly emailKey: string
  readonly integrationAddress: string
}

/** A claim that this request holds. */
interface Held {
  readonly token: string
  readonly by: string
  readonly externalUserId: string
  /** End of its lease by this process's clock, counted from before it was taken. */
  readonly until: number
}

type Begun =
  | Exclude<ShareDecision, { kind: 'redeem' | 'resolve' }>
  | { readonly kind: 'redeem' | 'resolve'; readonly held: Held }

/**
 * Builds the use case.
 * It rejects with VerificationUnavailableError, ShareTokenRejectedError, IdentityUnavailableError, IdentityMisconfiguredError; StoreError.
 * After any of them the same request may be sent again: what was redeemed is found, and nothing is redeemed twice.
 */
export function createShare(deps: ShareDeps): (input: ShareInput) => Promise<ShareResponse> {
  const { store, accounts, provider, emails, clock, ids, logger } = deps

  return async ({ integrationAddress, email: address, shareToken }) => {
    const email = emails(address)
    const { accountId } = await accounts.resolve(email)
    const attempt: Attempt = { accountId, emailKey: email.key, integrationAddress }
    for (let round = 0; round < mostRounds; round += 1) {
      const begun = await store.transaction((tx) => begin(tx, attempt))
      if (begun.kind === 'answer') return { ...begun.review, reused: false }
      if (begun.kind === 'not_donated') throw new VerificationUnavailableError()
      const held = begun.kind === 'redeem' ? begun.held : await resolve(attempt, begun.held)
      if (held !== null) return redeem(attempt, held, shareToken)
    }
    throw new IdentityUnavailableError(patienceMs)
  }

  async function begin(tx: StoreTransaction, attempt: Attempt): Promise<Begun> {
    const { accountId, integrationAddress } = attempt
    const until = clock.now() + claimLeaseMs
    const found = await tx.verifications.lock(accountId)
    const decision = decideShare(found, integrationAddress)
    switch (decision.kind) {
      case 'answer':
        await log(tx, attempt, decision.outcome)
        return decision
      case 'not_donated':
        await log(tx, attempt, 'not_donated')
        return decision
      case 'redeem': {
        const attempts = found.attempts + 1
        const held = { token: ids.next(), by: integrationAddress, externalUserId: `${accountId}-${attempts}`, until }
        await tx.verifications.change(accountId, { attempts, claim: claimOf(held, claimLeaseMs) })
        return { kind: 'redeem', held }
      }
      case 'resolve': {
        const held = { token: ids.next(), by: decision.by, externalUserId: decision.externalUserId, until }
        await tx.verifications.change(accountId, { claim: claimOf(held, claimLeaseMs) })
        return { kind: 'resolve', held }
      }
    }
  }

  /** Finds out how a claim of before ended. Resolves the claim to redeem under, or null when it had redeemed: look again then. */
  async function resolve(attempt: Attempt, held: Held): Promise<Held | null> {
    const { accountId, integrationAddress } = attempt
    const found = await provider.find(held.externalUserId)
    if (found.kind !== 'answer') {
      await end(attempt, held, { outcome: found.kind, lapse: true })
      throw refusal(found)
    }
    if (found.value !== null) {
      await attach(attempt, held, found.value)
      return null
    }
    // Nothing was redeemed under that name, so the caller's token may be.
    const own = { ...held, by: integrationAddress, until: clock.now() + claimLeaseMs }
    const isHeld = await store.transaction(async (tx) => {
      if (!(await holds(tx, accountId, held))) return false
      await tx.verifications.change(accountId, { claim: claimOf(own, claimLeaseMs) })
      return true
    })
    return isHeld ? own : null
  }

  async function redeem(attempt: Attempt, held: Held, shareToken: string): Promise<ShareResponse> {
    const { externalUserId } = held
    if (held.until - clock.now() < leastLeftMs) {
      await end(attempt, held, { outcome: 'unavailable', lapse: true })
      throw new IdentityUnavailableError(patienceMs)
    }
    const redemption = await provider.redeem({ shareToken, externalUserId })
    if (redemption.kind === 'redeemed') return { ...(await attach(attempt, held, redemption.applicant)), reused: true }
    if (redemption.kind !== 'unknown') {
      const providerCode = redemption.kind === 'rejected' ? redemption.providerCode : null
      await end(attempt, held, { outcome: redemption.kind, providerCode })
      throw refusal(redemption)
    }
    const found = await provider.find(externalUserId)
    if (found.kind === 'answer' && found.value !== null)
      return { ...(await attach(attempt, held, found.value)), reused: true }
    // The provider may still be at it, so the claim is kept until its lease ends; then it is looked for again.
    await store.transaction((tx) => log(tx, attempt, 'unknown', { externalUserId }))
    logger.warn({ externalUserId, reason: redemption.reason }, 'The outcome of a redemption is not known yet.')
    throw new IdentityUnavailableError(patienceMs)
  }

  /** Attaches an applicant to the account, for the integration whose token it came from. Resolves where its verification stands. */
  async function attach(attempt: Attempt, held: Held, { applicantId, review }: Applicant): Promise<Review> {
    const { accountId } = attempt
    return store.transaction(async (tx) => {
      const found = await tx.verifications.lock(accountId)
      const { externalUserId } = held
      await log(tx, { ...attempt, integrationAddress: held.by }, 'redeemed', { externalUserId })
      // A webhook, or whoever took the claim over, has attached it already, perhaps with a verdict since.
      if (found.claim?.token !== held.token) return found.review ?? notStarted
      const begun = review ?? begunReview
      await tx.verifications.change(accountId, {
        donor: held.by,
        applicantId,
        review: begun,
        reviewedAt: null,
        claim: null,
        askInMs: firstQuestionMs,
      })
      return begun
    })
  }

  /** Ends a claim that redeemed nothing: what was before stays. With `lapse` the claim stays, free to be taken over. */
  async function end(
    attempt: Attempt,
    held: Held,
    {
      outcome,
      providerCode = null,
      lapse = false,
    }: { outcome: ShareOutcome; providerCode?: number | null; lapse?: boolean },
  ): Promise<void> {
    const { accountId } = attempt
    await store.transaction(async (tx) => {
      if (await holds(tx, accountId, held))
        await tx.verifications.change(accountId, { claim: lapse ? claimOf(held, 0) : null })
      await log(tx, attempt, outcome, { externalUserId: held.externalUserId, providerCode })
    })
    if (outcome === 'misconfigured')
      logger.error({ externalUserId: held.externalUserId }, 'The identity provider refuses the service itself.')
  }

  async function holds(tx: StoreTransaction, accountId: string, held: Held): Promise<boolean> {
    return (await tx.verifications.lock(accountId)).claim?.token === held.token
  }

  function log(
    tx: StoreTransaction,
    { accountId, emailKey, integrationAddress }: Attempt,
    outcome: ShareOutcome,
    {
      externalUserId = null,
      providerCode = null,
    }: { externalUserId?: string | null; providerCode?: number | null } = {},
  ): Promise<void> {
    const at = clock.now()
    return tx.verifications.logAttempt({
      at,
      integrationAddress,
      emailKey,
      accountId,
      outcome,
      externalUserId,
      providerCode,
    })
  }
}

function claimOf({ token, by, externalUserId }: Held, leaseMs: number): NonNullable<VerificationChange['claim']> {
  return { token, by, externalUserId, leaseMs }
}

/** The provider often answers a redemption without a status: the checks have begun. Source: INTERFACE 3 ("normally answers init"). */
const begunReview: Review = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

type Refusal = ProviderRefusal | { readonly kind: 'unavailable' }

function refusal(refused: Refusal): Error {
  switch (refused.kind) {
    case 'rejected':
      return new ShareTokenRejectedError(refused.message)
    case 'misconfigured':
      return new IdentityMisconfiguredError()
    case 'throttled':
      return new IdentityUnavailableError(refused.retryAfterMs ?? patienceMs)
    case 'unavailable':
      return new IdentityUnavailableError(patienceMs)
  }
}
