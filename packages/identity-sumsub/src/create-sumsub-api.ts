/**
 * The service's side of the provider's API: redeem a share token, find what became of it, and ask where a verification
 * stands. Source: docs/interface.md 3 (KYC attachment), 4.2; docs/decisions/identity-provider.md.
 * @module
 */
import { readApplicant, type SumsubApplicant } from './applicant.js'
import { classifyFailure } from './classify-failure.js'
import { createCall, type ProviderAnswer, type ProviderConnection } from './connection.js'
import { ProviderAnswerError } from './errors.js'
import { checkCredential } from './internal/check-secret.js'
import { field } from './internal/json.js'
import { type DatedSumsubReview, readDatedReview } from './review.js'

/** How the service uses the provider. */
export interface SumsubApiOptions extends ProviderConnection {
  /** The verification level that applicants get. */
  readonly levelName: string
  /**
   * `reuse` is the provider's endpoint for reusing a verification. `import` is the one before it, which copies an
   * applicant; its page names no external user id, so a lost answer is not found again by looking it up.
   * @default 'reuse'
   */
  readonly redeemBy?: 'reuse' | 'import' | undefined
}

/** The calls that the service makes to the provider. Each rejects with an error of this package. */
export interface SumsubApi {
  /** The level that redemptions ask for; null: they name none. */
  readonly levelName: string | null
  /** Whether {@link SumsubApi.find} finds what was redeemed. Where not, null of it proves nothing. */
  readonly findsByName: boolean
  /**
   * Redeems a share token for an applicant named `externalUserId`. The provider knows no idempotency: after an error
   * whose outcome is unknown, ask {@link SumsubApi.find} before anything is redeemed again.
   * @throws TokenRejectedError, ProviderSetupError, ProviderThrottledError, RequestLateError: nothing was redeemed.
   * @throws ProviderUnavailableError, ProviderAnswerError: it may have been.
   */
  redeem(request: {
    readonly shareToken: string
    readonly externalUserId: string
    /**
     * Unix milliseconds: a request that is not signed by then is not sent. One that is lands within about a minute, or
     * never.
     * @default none
     */
    readonly sendBy?: number | undefined
    readonly signal?: AbortSignal | undefined
  }): Promise<SumsubApplicant>
  /** The applicant of that name, or null when there is none. */
  find(externalUserId: string, signal?: AbortSignal): Promise<SumsubApplicant | null>
  /** Where an applicant's verification stands, or null when the provider knows no such applicant any more. */
  review(applicantId: string, signal?: AbortSignal): Promise<DatedSumsubReview | null>
}

/**
 * Builds the calls. A service takes an `IdentityProvider`, which never rejects: `createSumsubProvider` of
 * `@payment-integration/server` builds it on these.
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
      // Copying lets the provider choose the name.
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
 * Whether the provider itself says that there is no such applicant. A gateway's 404, or one of a wrong `baseUrl`, says
 * nothing about applicants: taken for one, it would have a share token redeemed twice.
 */
function isUnknown({ status, json }: ProviderAnswer): boolean {
  return status === 404 && field(json, 'code') === 404
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}
