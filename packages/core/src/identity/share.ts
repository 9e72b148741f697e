/**
 * Shares a verification: at most one redemption. Source: docs/interface.md 3, 4.2; docs/decisions/identity.md.
 * @module
 */
import type { ShareResponse } from '@payment-integration/contract'
import type { EmailKeys } from '../emails/email-keys.js'
import type { ShareInput } from '../identity-types.js'
import type { IdentityAccounts } from '../ports/identity-accounts.js'
import type { Review } from '../ports/identity-provider.js'
import type { NewRedemption, RedemptionRecord } from '../ports/store-identity.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type { Ids } from '../ports/world.js'
import { decideSubject } from './decide-subject.js'
import { failureError, SharingUnavailableError, VerificationNotSharedError } from './errors.js'
import { applyLookUp, lookUp } from './look-up.js'
import { createRedeem, type RedeemParts } from './redeem.js'
import { absentForMs, externalUserIdOf, mostLookedUp, redemptionLeaseMs, shareEntry } from './redemption.js'
import { type AccountQuery, type ResolvedAccount, resolveAccount } from './resolve-account.js'

/** Most rounds of a request, when others are faster or a name is taken. Then it answers 503. */
const mostRounds = 4

/** The dependencies of sharing. */
export interface ShareParts extends RedeemParts {
  /** The host's accounts; absent: the store's own. */
  readonly accounts?: IdentityAccounts | undefined
  readonly emails: EmailKeys
  readonly ids: Ids
  /** Prefix of external user ids: separates this service and environment from others at the provider. */
  readonly namespace: string
}

/** The input of the deciding transaction. */
interface Beginning extends AccountQuery {
  readonly caller: string
  readonly lookedUp: ReadonlySet<string>
}

type Step =
  | { readonly kind: 'answer'; readonly review: Review }
  | { readonly kind: 'conflict' | 'unavailable' | 'again' }
  | { readonly kind: 'redeem'; readonly redemption: NewRedemption }
  | { readonly kind: 'look_up'; readonly redemptions: readonly RedemptionRecord[]; readonly subjectId: string }

/**
 * Builds the use case. A redemption is committed before the call to the provider, so that of two requests one redeems.
 * It rejects with VerificationNotSharedError, RedemptionRejectedError, SharingUnavailableError,
 * SharingMisconfiguredError; StoreError. After any of them the client may send the same request again.
 */
export function createShare(parts: ShareParts): (input: ShareInput) => Promise<ShareResponse> {
  const { store, accounts, provider, emails, clock, ids, logger, namespace } = parts
  const redeem = createRedeem(parts)

  return async ({ integrationAddress: caller, email: address, shareToken }) => {
    const email = emails(address)
    const lookedUp = new Set<string>()
    let subjectId = ''
    for (let round = 0; round < mostRounds; round += 1) {
      const ensured = await store.transaction((tx) => tx.identity.ensureSubject(email, ids.next()))
      subjectId = ensured.id
      const hostOwner = accounts === undefined ? undefined : ((await accounts.resolve(email)) ?? null)
      const beginning = { email, caller, ensured, hostOwner, lookedUp }
      let step = await begin(beginning)
      if (step.kind === 'look_up') {
        await resolveOutcomes(caller, step)
        for (const { externalUserId } of step.redemptions) lookedUp.add(externalUserId)
        step = await begin(beginning)
      }
      if (step.kind === 'answer') return { ...step.review, reused: false }
      if (step.kind === 'conflict') throw new VerificationNotSharedError()
      if (step.kind === 'unavailable') throw new SharingUnavailableError()
      const answer = step.kind === 'redeem' ? await redeem(step.redemption, shareToken) : null
      if (answer !== null) return answer
    }
    const sharer = { integrationAddress: caller, subjectId }
    await store.transaction((tx) => tx.identity.logShare(shareEntry(clock.now(), sharer, 'exhausted')))
    throw new SharingUnavailableError()
  }

  /** Decides under the lock of the person, and stores the redemption of a token to redeem. */
  function begin(beginning: Beginning): Promise<Step> {
    // The lease starts before the wait for the lock.
    const startedAt = clock.now()
    return store.transaction(async (tx) => {
      const resolved = await resolveAccount(tx, beginning, ids)
      return resolved === null ? { kind: 'again' } : decide(tx, beginning, resolved, startedAt)
    })
  }

  async function decide(
    tx: StoreTransaction,
    { caller, lookedUp }: Beginning,
    { open, subjects }: ResolvedAccount,
    startedAt: number,
  ): Promise<Step> {
    const redemptions = await tx.identity.openRedemptions({
      subjectIds: subjects.map(({ id }) => id),
      absentSince: Math.max(0, clock.now() - absentForMs),
      limit: mostLookedUp,
    })
    const decision = decideSubject({ open, subjects, redemptions, caller, lookedUp })
    const sharer = { integrationAddress: caller, subjectId: open.id }
    if (decision.kind === 'look_up') return { ...decision, subjectId: open.id }
    if (decision.kind !== 'redeem') {
      await tx.identity.logShare(shareEntry(clock.now(), sharer, decision.outcome))
      return decision
    }
    const { levelName = null, findsByName: isFindable = true } = provider
    const number = open.redemptions + 1
    const externalUserId = externalUserIdOf(namespace, open.id, number)
    const request = { levelName, isFindable, startedAt, leaseMs: redemptionLeaseMs }
    const redemption = { ...sharer, externalUserId, number, ...request }
    await tx.identity.addRedemption(redemption)
    await tx.identity.logShare(shareEntry(clock.now(), redemption, 'started'))
    return { kind: 'redeem', redemption }
  }

  /** Looks up earlier redemptions. Each applicant goes to the subject of its redemption, not to the caller. */
  async function resolveOutcomes(caller: string, { redemptions, subjectId }: Extract<Step, { kind: 'look_up' }>) {
    const { answers, failure } = await lookUp(provider, redemptions, logger, caller)
    for (const answer of answers) await store.transaction((tx) => applyLookUp(tx, answer, parts))
    if (failure === null) return
    const sharer = { integrationAddress: caller, subjectId }
    await store.transaction((tx) => tx.identity.logShare(shareEntry(clock.now(), sharer, failure.kind)))
    throw failureError(failure)
  }
}
