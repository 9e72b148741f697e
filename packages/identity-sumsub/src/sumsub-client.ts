/**
 * Calls the provider for the service: redeem a share token, find its applicant, poll a review.
 * Source: docs/interface.md 3, 4.2.
 * @module
 */
import type { ReviewStatus, ShareResponse } from '@payment-integration/contract'
import { parseInstant } from '@payment-integration/contract/internal-io'
import { ProviderAnswerError } from './errors.js'
import type { ProviderAnswer, ProviderConnection } from './signed-calls.js'
import { checkCredential, classifyFailure, createSignedCall, getField, toText, toTexts } from './signed-calls.js'

/** Unix milliseconds of a time in UTC, such as `2020-02-21 13:23:19.001`; null for anything else. */
export function parseTime(value: unknown): number | null {
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)(?:Z|\+00:?00)?$/.exec(toText(value) ?? '')
  return match === null ? null : parseInstant(`${match[1]}T${match[2]}Z`)
}

/** An applicant of the service. Personal data are not parsed. */
interface SumsubApplicant extends Omit<DatedSumsubReview, 'review'> {
  readonly applicantId: string
  /** The external user id, or null when the answer has none. */
  readonly externalUserId: string | null
  /** The status of its verification, or null when the answer has none. */
  readonly review: SumsubReview | null
  /** The provider's time of creation in unix milliseconds, to the second; null when absent. */
  readonly createdAt: number | null
}

/** Parses an applicant. @throws ProviderAnswerError When the answer is not an applicant. */
export function parseApplicant(status: number, json: unknown): SumsubApplicant {
  const applicantId = toText(getField(json, 'id'))
  if (applicantId === null) throw new ProviderAnswerError(status, 'an applicant without an id')
  const review = getField(json, 'review')
  const isReviewed = getField(review, 'reviewStatus') !== undefined
  return {
    applicantId,
    externalUserId: toText(getField(json, 'externalUserId')),
    ...parseDatedReview(review),
    ...(isReviewed ? {} : { review: null }),
    createdAt: parseTime(getField(json, 'createdAt')),
  }
}

/** A verification as the contract shows it. */
export type SumsubReview = Omit<ShareResponse, 'reused'>

/** A review with its level and the time of its verdict. */
interface DatedSumsubReview {
  readonly review: SumsubReview
  /** The provider's time of a verdict in unix milliseconds, to the second; null without a verdict or a time. */
  readonly reviewedAt: number | null
  /** The level of the review; null when absent. */
  readonly levelName: string | null
}

/**
 * Maps states of the provider to statuses of the contract. The provider has no `not_started`, which the service
 * sets itself. In `queued` and `awaitingService` the provider works; `awaitingUser` waits for documents, like `init`.
 */
export const statuses: ReadonlyMap<string, ReviewStatus> = new Map([
  ['init', 'init'],
  ['pending', 'pending'],
  ['prechecked', 'prechecked'],
  ['queued', 'pending'],
  ['completed', 'completed'],
  ['onHold', 'onHold'],
  ['awaitingUser', 'init'],
  ['awaitingService', 'pending'],
])

/**
 * Parses a state with its result. Only `completed` with GREEN or RED is a verdict; an unknown value is still in flight
 * and never approves.
 */
export function parseReview(status: unknown, result: unknown): SumsubReview {
  const reviewStatus = statuses.get(toText(status) ?? '') ?? 'pending'
  const answer = getField(result, 'reviewAnswer')
  const isDone = reviewStatus === 'completed' && (answer === 'GREEN' || answer === 'RED')
  if (!isDone) {
    // A completed check without an answer still waits for a decision.
    const inFlight = reviewStatus === 'completed' ? 'pending' : reviewStatus
    return { reviewStatus: inFlight, reviewAnswer: null, rejectType: null, rejectLabels: [] }
  }
  const type = getField(result, 'reviewRejectType')
  const rejectType = answer === 'RED' && (type === 'RETRY' || type === 'FINAL') ? type : null
  const rejectLabels = answer === 'RED' ? toTexts(getField(result, 'rejectLabels')) : []
  return { reviewStatus, reviewAnswer: answer, rejectType, rejectLabels }
}

/** Parses the state of an applicant with its result, its level and the time of a verdict. */
function parseDatedReview(state: unknown): DatedSumsubReview {
  const review = parseReview(getField(state, 'reviewStatus'), getField(state, 'reviewResult'))
  const reviewedAt = review.reviewStatus === 'completed' ? parseTime(getField(state, 'reviewDate')) : null
  return { review, reviewedAt, levelName: toText(getField(state, 'levelName')) }
}

/** The connection of a service, and its way of redeeming. */
export interface SumsubClientOptions extends ProviderConnection {
  /** The verification level of new applicants. */
  readonly levelName: string
  /**
   * `reuse` is the provider's endpoint for reusing a verification. `import` is the older endpoint, which copies an
   * applicant. With `import` the provider chooses the external user id, so no look-up can resolve an unknown outcome.
   * @default 'reuse'
   */
  readonly redeemBy?: 'reuse' | 'import' | undefined
}

/** The service's calls to the provider. Each rejects with an error of this package. */
export interface SumsubClient {
  /** The level of redemptions; null when they name none. */
  readonly levelName: string | null
  /** Whether {@link SumsubClient.find} finds redemptions. If false, a null of `find` proves nothing. */
  readonly findsByName: boolean
  /**
   * Redeems a share token for an applicant with the given external user id. The provider has no idempotency key: after
   * an unknown outcome, call {@link SumsubClient.find} before another redemption.
   * @throws ProviderError Not redeemed: `ERR_PROVIDER_TOKEN_REJECTED`, `ERR_PROVIDER_SETUP`, `ERR_PROVIDER_THROTTLED`,
   * `ERR_PROVIDER_LATE`. Possibly redeemed: `ERR_PROVIDER_UNAVAILABLE`, `ERR_PROVIDER_ANSWER`.
   */
  redeem(request: {
    readonly shareToken: string
    readonly externalUserId: string
    /**
     * Deadline for signing, in unix milliseconds. A later request is not sent. A signed one takes effect within about a
     * minute, or never.
     * @default none
     */
    readonly sendBy?: number | undefined
    readonly signal?: AbortSignal | undefined
  }): Promise<SumsubApplicant>
  /** The applicant with this external user id, or null when there is none. */
  find(externalUserId: string, signal?: AbortSignal): Promise<SumsubApplicant | null>
  /** The status of an applicant's verification, or null when the provider no longer has the applicant. */
  review(applicantId: string, signal?: AbortSignal): Promise<DatedSumsubReview | null>
}

/**
 * Creates the client of the provider's API. A service needs an `IdentityProvider`, which never rejects:
 * `createSumsubIdentityProvider` of `@payment-integration/server` builds it on these calls.
 * @throws TypeError When an option is blank or malformed.
 * @throws ProviderError From its calls, such as `ERR_PROVIDER_SETUP`: {@link SumsubClient.redeem} names all codes.
 * @example
 * import { createSumsubClient } from '@payment-integration/identity-sumsub/service'
 * const { SUMSUB_APP_TOKEN: appToken = '', SUMSUB_SECRET_KEY: secretKey = '' } = process.env
 * const { find } = createSumsubClient({ appToken, secretKey, levelName: 'basic-kyc' })
 */
export function createSumsubClient(options: SumsubClientOptions): SumsubClient {
  const { redeemBy = 'reuse' } = options
  const levelName = checkCredential('levelName', options.levelName)
  const call = createSignedCall(options)
  const redeemPath = redeemBy === 'reuse' ? '/resources/api/reusableIdentity/reuse' : '/resources/applicants/-/import'

  /** Null when the provider reports that the applicant is missing. */
  async function get(path: string, signal: AbortSignal | undefined): Promise<ProviderAnswer | null> {
    const answer = await call('GET', path, {}, { signal })
    // Only the provider's own 404 counts. One of a gateway or of a wrong `baseUrl` would lead to a second redemption.
    if (answer.status === 404 && getField(answer.json, 'code') === 404) return null
    if (!answer.ok) throw classifyFailure(answer, { sentShareToken: false })
    return answer
  }

  return {
    levelName: redeemBy === 'reuse' ? levelName : null,
    findsByName: redeemBy === 'reuse',
    async redeem({ shareToken, externalUserId, sendBy, signal }) {
      const query = { shareToken, ...(redeemBy === 'reuse' ? { levelName } : {}), userId: externalUserId }
      const answer = await call('POST', redeemPath, query, { signal, sendBy })
      if (!answer.ok) throw classifyFailure(answer, { sentShareToken: true })
      const applicant = parseApplicant(answer.status, answer.json)
      // With `import`, the provider chooses the external user id.
      if (redeemBy === 'reuse' && applicant.externalUserId !== null && applicant.externalUserId !== externalUserId)
        throw new ProviderAnswerError(answer.status, 'an applicant with another external user id than the given one')
      return applicant
    },
    async find(externalUserId, signal) {
      const encodedId = encodeURIComponent(externalUserId)
      const answer = await get(`/resources/applicants/-;externalUserId=${encodedId}/one`, signal)
      if (answer === null) return null
      const applicant = parseApplicant(answer.status, answer.json)
      if (applicant.externalUserId !== externalUserId)
        throw new ProviderAnswerError(answer.status, 'an applicant with another external user id than requested')
      return applicant
    },
    async review(applicantId, signal) {
      const answer = await get(`/resources/applicants/${encodeURIComponent(applicantId)}/status`, signal)
      if (answer === null) return null
      if (typeof getField(answer.json, 'reviewStatus') !== 'string')
        throw new ProviderAnswerError(answer.status, 'a status without reviewStatus')
      return parseDatedReview(answer.json)
    },
  }
}
