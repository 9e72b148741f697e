/** Redeems a share token at most once. Source: docs/interface.md 4.2; docs/decisions/identity.md. @module */
import { type ShareResponse, shareRequestLimits, shareRequestSchema } from '@payment-integration/contract'
import { formatUnreadableJson } from '@payment-integration/contract/internal'
import { assertModestJson } from '@payment-integration/contract/internal-io'
import {
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  InvalidShareRequestError,
  VerificationUnavailableError,
} from '../errors.js'
import { findDuplicateKey } from '../internal/values.js'
import type { Applicant, IdentityAccounts, IdentityProvider } from '../ports/identity.js'
import type { IdSource } from '../ports/runtime.js'
import { createFailureError, logFailure } from './checked-provider.js'
import { decideShare } from './decide-share.js'
import { invalidEmailMessage, normalizeEmail, type SealEmail } from './emails.js'
import type { NewRedemption, ShareOutcome } from './identity-store.js'
import {
  absentLookUpsForMs,
  attachApplicant,
  findMisfit,
  firstLookUpMs,
  formatExternalUserId,
  type IdentityParts,
  lockSubject,
  logShare,
  lookUpRedemptions,
  maxLookUps,
  mayHaveApplicant,
  redemptionLeaseMs,
  redemptionWindowMs,
} from './redemption.js'
import { type AccountQuery, lockAndSetOwner } from './resolve-account.js'
import { isRejected } from './reviews.js'

export interface ShareBody {
  /** In its normal form. */
  readonly email: string
  /** Verbatim. It is sent to the provider alone. */
  readonly shareToken: string
}

/** A share request of an authenticated integration. */
export interface ShareInput extends ShareBody {
  readonly integrationAddress: string
}

/** The longest token, in characters and in bytes of a URL query. Tokens of the provider have at most 1 KB. */
const maxTokenLength = shareRequestLimits.kycShareToken

/**
 * Parses the body: JSON in UTF-8 without duplicate keys. The e-mail address is normalized, the token stays verbatim.
 * Unknown fields are ignored. No message repeats a value.
 * @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID`.
 * @example
 * import { parseShareRequest } from '@payment-integration/core/identity'
 * parseShareRequest(Buffer.from('{"email":"ada@shop.example","kycShareToken":"eyJ..."}'))
 */
export function parseShareRequest(body: Uint8Array): ShareBody {
  const { data, error } = shareRequestSchema.safeParse(parseJson(body))
  if (data === undefined) throw new InvalidShareRequestError(describeFlaw(error.issues[0]))
  const { email: input, kycShareToken: shareToken } = data
  const email = normalizeEmail(input)
  if (email === null) throw new InvalidShareRequestError(invalidEmailMessage)
  // A lone surrogate cannot be sent verbatim.
  if (/\p{Surrogate}/u.test(shareToken)) throw new InvalidShareRequestError('kycShareToken must be well-formed Unicode')
  if (String(new URLSearchParams({ '': shareToken })).length - 1 > maxTokenLength)
    throw new InvalidShareRequestError(`kycShareToken is longer than ${maxTokenLength} bytes in a URL`)
  return { email, shareToken }
}

function describeFlaw(issue: { readonly code: string; readonly path: readonly PropertyKey[] } | undefined): string {
  const field = issue?.path[0]
  if (field === 'email') return invalidEmailMessage
  if (field !== 'kycShareToken') return 'Body must be a JSON object'
  if (issue?.code === 'too_big') return `kycShareToken is longer than ${maxTokenLength} characters`
  return 'kycShareToken must be a non-empty string'
}

function parseJson(body: Uint8Array): unknown {
  let value: unknown
  let text: string
  try {
    assertModestJson(body)
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    value = JSON.parse(text)
  } catch {
    throw new InvalidShareRequestError(formatUnreadableJson(body, 'Body must be JSON in UTF-8'))
  }
  if (findDuplicateKey(text) !== null) throw new InvalidShareRequestError('Body names a field twice')
  return value
}

/** The most rounds of a request. Another follows when another request was faster or an external user id is taken. */
const maxRounds = 4

interface ShareParts extends IdentityParts {
  readonly provider: IdentityProvider
  /** The host's accounts; absent: the store's own. */
  readonly accounts?: IdentityAccounts | undefined
  readonly sealEmail: SealEmail
  readonly ids: IdSource
  readonly namespace: string
}

/** A redemption is committed before the call to the provider, so that only one of two concurrent requests redeems. */
export function createShare(parts: ShareParts): (input: ShareInput) => Promise<ShareResponse> {
  const { store, accounts, provider, sealEmail, clock, logger, ids, namespace } = parts

  return async ({ integrationAddress: caller, email: address, shareToken }) => {
    const email = sealEmail(address)
    const lookedUp = new Set<string>()
    let subjectId = ''
    for (let round = 0; round < maxRounds; round += 1) {
      const ensured = await store.transaction((tx) => tx.identity.ensureSubject(email, ids.next()))
      subjectId = ensured.id
      const hostOwner = accounts === undefined ? undefined : ((await accounts.findAddressOwner(email)) ?? null)
      const query = { email, ensured, hostOwner }
      let step = await decide(query, caller, lookedUp)
      if (step.kind === 'look_up') {
        // Each applicant goes to the subject of its redemption, not to the caller.
        const failure = await lookUpRedemptions(parts, step.redemptions, caller)
        if (failure !== null) {
          await logOutcome({ integrationAddress: caller, subjectId: step.subjectId }, failure.kind)
          throw createFailureError(failure)
        }
        for (const { externalUserId } of step.redemptions) lookedUp.add(externalUserId)
        step = await decide(query, caller, lookedUp)
      }
      if (step.kind === 'answer') return { ...step.review, reused: false }
      if (step.kind === 'not_donated') throw new VerificationUnavailableError()
      if (step.kind === 'unavailable') throw new IdentityUnavailableError()
      const answer = step.kind === 'redeem' ? await redeem(step.redemption, shareToken) : null
      if (answer !== null) return answer
    }
    await logOutcome({ integrationAddress: caller, subjectId }, 'exhausted')
    throw new IdentityUnavailableError()
  }

  function logOutcome(sharer: Pick<NewRedemption, 'integrationAddress' | 'subjectId'>, outcome: ShareOutcome) {
    return store.transaction((tx) => logShare(tx, clock.now(), sharer, outcome))
  }

  /** Locks the person, decides, and stores the redemption of a token to redeem. `again`: the owner changed. */
  function decide(query: AccountQuery, caller: string, lookedUp: ReadonlySet<string>) {
    // The lease starts before the wait for the lock.
    const startedAt = clock.now()
    return store.transaction(async (tx) => {
      const owned = await lockAndSetOwner(tx, query, ids)
      if (owned === null) return { kind: 'again' } as const
      const { openSubject, subjects } = owned
      const redemptions = await tx.identity.openRedemptions({
        subjectIds: subjects.map(({ id }) => id),
        absentSince: Math.max(0, clock.now() - absentLookUpsForMs),
        limit: maxLookUps,
      })
      const decision = decideShare({ openSubject, subjects, redemptions, caller, lookedUp })
      const sharer = { integrationAddress: caller, subjectId: openSubject.id }
      if (decision.kind === 'look_up') return { ...decision, subjectId: openSubject.id }
      if (decision.kind !== 'redeem') {
        await logShare(tx, clock.now(), sharer, decision.outcome)
        return decision
      }
      const { levelName = null, findsByName: isFindable = true } = provider
      const number = openSubject.redemptions + 1
      const externalUserId = formatExternalUserId(namespace, openSubject.id, number)
      const request = { levelName, isFindable, startedAt, leaseMs: redemptionLeaseMs }
      const redemption = { ...sharer, externalUserId, number, ...request }
      await tx.identity.addRedemption(redemption)
      await logShare(tx, clock.now(), redemption, 'started')
      return { ...decision, redemption }
    })
  }

  /** Redeems a token. Null: an older applicant has the external user id, so begin again with the next one. */
  async function redeem(redemption: NewRedemption, shareToken: string): Promise<ShareResponse | null> {
    const { externalUserId, integrationAddress, startedAt, leaseMs } = redemption
    // A request signed by `sendBy` is carried out before the lease ends, however long this process is suspended.
    const sendBy = startedAt + leaseMs - redemptionWindowMs
    const isLate = clock.now() > sendBy
    const request = { shareToken, externalUserId, sendBy, integrationAddress }
    const result = isLate ? ({ kind: 'unsent' } as const) : await provider.redeem(request)
    switch (result.kind) {
      case 'redeemed':
        return answerRedeemed(redemption, result.applicant, 'redeemed')
      case 'unknown':
        return findAfterUnknown(redemption, result.reason)
      case 'unsent':
        await recordFailure(redemption, 'late')
        throw new IdentityUnavailableError()
      default: {
        const providerCode = result.kind === 'rejected' ? result.providerCode : null
        const formerReview = await recordFailure(redemption, result.kind, providerCode)
        logFailure(logger, result, { externalUserId })
        throw createFailureError(result, formerReview)
      }
    }
  }

  async function findAfterUnknown(redemption: NewRedemption, reason: string): Promise<ShareResponse | null> {
    const { externalUserId, subjectId } = redemption
    const answer = await provider.find(externalUserId, redemption.integrationAddress)
    if (answer.kind !== 'answer') logFailure(logger, answer, { externalUserId })
    const applicant = answer.kind === 'answer' ? answer.value : null
    const misfit = applicant === null ? null : findMisfit(redemption, applicant, logger)
    if (applicant !== null && misfit === null) return answerRedeemed(redemption, applicant, 'found')
    if (misfit === 'age') {
      await recordFailure(redemption, 'foreign')
      return null
    }
    // The token may still be redeemed, so its applicant is looked up again.
    await store.transaction(async (tx) => {
      await lockSubject(tx, subjectId)
      const stored = await tx.identity.redemption(externalUserId)
      if (stored?.state === 'in_flight')
        await tx.identity.changeRedemption(externalUserId, { state: 'unknown', lookUpInMs: firstLookUpMs })
      await logShare(tx, clock.now(), redemption, 'unknown')
    })
    logger.warn({ externalUserId, reason }, 'The outcome of a redemption is unknown; its applicant is looked up again.')
    throw misfit === 'level' ? new IdentityMisconfiguredError() : new IdentityUnavailableError()
  }

  async function answerRedeemed(redemption: NewRedemption, applicant: Applicant, outcome: 'redeemed' | 'found') {
    const attachment = { redemption, applicant, outcome }
    const { donor, review } = await store.transaction((tx) => attachApplicant(tx, attachment, parts))
    // The subject belongs to another donor: the answer reveals nothing about the token.
    if (donor !== redemption.integrationAddress) throw new VerificationUnavailableError()
    return { ...review, reused: true }
  }

  /** Records a redemption that used no token. Resolves the caller's rejected review of the open subject, or null. */
  async function recordFailure(redemption: NewRedemption, outcome: ShareOutcome, providerCode: number | null = null) {
    const { externalUserId, subjectId, integrationAddress } = redemption
    const state = outcome === 'foreign' ? 'foreign' : 'unused'
    return store.transaction(async (tx) => {
      const { donor, review, closed } = await lockSubject(tx, subjectId)
      const stored = await tx.identity.redemption(externalUserId)
      if (stored !== null && mayHaveApplicant(stored.state))
        await tx.identity.changeRedemption(externalUserId, { state, lookUpInMs: null })
      await logShare(tx, clock.now(), redemption, outcome, providerCode)
      return !closed && donor === integrationAddress && isRejected(review) ? review : null
    })
  }
}
