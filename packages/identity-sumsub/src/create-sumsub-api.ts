/**
 * Calls the provider for the service: redeem a share token, find its applicant, poll a review. Source:
 * docs/interface.md 3 (KYC attachment), 4.2; docs/decisions/identity-provider.md.
 * @module
 */

import { classifyFailure, createCall, field, type ProviderAnswer, type ProviderConnection } from './connection.js'
import { ProviderAnswerError } from './errors.js'
import { checkCredential } from './internal/hmac.js'
import { type DatedSumsubReview, readApplicant, readDatedReview, type SumsubApplicant } from './review.js'

/** Options of the service at the provider. */
export interface SumsubApiOptions extends ProviderConnection {
  /** The verification level of new applicants. */
  readonly levelName: string
  /**
   * `reuse` is the provider's endpoint for reusing a verification. `import` is the older one, which copies an
   * applicant. It takes no external user id, so a look-up cannot resolve an unknown outcome.
   * @default 'reuse'
   */
  readonly redeemBy?: 'reuse' | 'import' | undefined
}

/** The service's calls to the provider. Each rejects with an error of this package. */
export interface SumsubApi {
  /** The level of redemptions; null when they name none. */
  readonly levelName: string | null
  /** Whether {@link SumsubApi.find} finds redemptions. If not, its null proves nothing. */
  readonly findsByName: boolean
  /**
   * Redeems a share token for an applicant named `externalUserId`. The provider has no idempotency key: after an
   * unknown outcome, call {@link SumsubApi.find} before another redemption.
   * @throws TokenRejectedError, ProviderSetupError, ProviderThrottledError, RequestLateError: not redeemed.
   * @throws ProviderUnavailableError, ProviderAnswerError: possibly redeemed.
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
  /** The applicant of that name, or null when there is none. */
  find(externalUserId: string, signal?: AbortSignal): Promise<SumsubApplicant | null>
  /** The status of an applicant's verification, or null when the provider no longer has the applicant. */
  review(applicantId: string, signal?: AbortSignal): Promise<DatedSumsubReview | null>
}

/**
 * Makes the calls. A service needs an `IdentityProvider`, which never rejects: `createSumsubProvider` of
 * `@payment-integration/server` builds it on these calls.
 * @throws TypeError When an option is blank or malformed.
 * @example createSumsubApi({ appToken, secretKey, levelName: 'basic-kyc' })
 */
export function createSumsubApi(options: SumsubApiOptions): SumsubApi {
  const { redeemBy = 'reuse' } = options
  const levelName = checkCredential('levelName', options.levelName)
  const call = createCall(options)
  const path = redeemBy === 'reuse' ? '/resources/api/reusableIdentity/reuse' : '/resources/applicants/-/import'
  return {
    levelName: redeemBy === 'reuse' ? levelName : null,
    findsByName: redeemBy === 'reuse',
    async redeem({ shareToken, externalUserId, sendBy, signal }) {
      const query = { shareToken, ...(redeemBy === 'reuse' ? { levelName } : {}), userId: externalUserId }
      const answer = await call('POST', path, query, { signal, sendBy })
      if (!isSuccess(answer.status)) throw classifyFailure(answer, { sentShareToken: true })
      const applicant = readApplicant(answer.status, answer.json)
      // When copying, the provider chooses the name.
      if (redeemBy === 'reuse' && applicant.externalUserId !== null && applicant.externalUserId !== externalUserId)
        throw new ProviderAnswerError(answer.status, 'an applicant of another name than the one given')
      return applicant
    },
    async find(externalUserId, signal) {
      const name = encodeURIComponent(externalUserId)
      const answer = await call('GET', `/resources/applicants/-;externalUserId=${name}/one`, {}, { signal })
      if (isUnknown(answer)) return null
      if (!isSuccess(answer.status)) throw classifyFailure(answer, { sentShareToken: false })
      const applicant = readApplicant(answer.status, answer.json)
      if (applicant.externalUserId !== externalUserId)
        throw new ProviderAnswerError(answer.status, 'an applicant of another name than the one asked for')
      return applicant
    },
    async review(applicantId, signal) {
      const answer = await call(
        'GET',
        `/resources/applicants/${encodeURIComponent(applicantId)}/status`,
        {},
        { signal },
      )
      if (isUnknown(answer)) return null
      if (!isSuccess(answer.status)) throw classifyFailure(answer, { sentShareToken: false })
      if (typeof field(answer.json, 'reviewStatus') !== 'string')
        throw new ProviderAnswerError(answer.status, 'a status without reviewStatus')
      return readDatedReview(answer.json)
    },
  }
}

/**
 * Whether the provider itself reports a missing applicant. The 404 of a gateway or of a wrong `baseUrl` must not count,
 * because it would lead to a second redemption.
 */
function isUnknown({ status, json }: ProviderAnswer): boolean {
  return status === 404 && field(json, 'code') === 404
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}
