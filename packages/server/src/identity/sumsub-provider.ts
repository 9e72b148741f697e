/** Adapts Sumsub to the identity provider port, within its rate limits. @module */
import { systemClock } from '@payment-integration/core'
import type { ProviderAnswer } from '@payment-integration/core/internal'
import type {
  Applicant,
  Clock,
  DatedReview,
  IdentityProvider,
  ProviderRejection,
  RedeemRequest,
} from '@payment-integration/core/ports'
import type * as Sumsub from '@payment-integration/identity-sumsub'
import { createFetch } from '../internal/outgoing-fetch.js'
import { type ClosableIdentityProvider, limitProvider, type ProviderLimits, tokenTooLong } from './limited-provider.js'

/** The calls that `createSumsubClient` of `@payment-integration/identity-sumsub/service` makes. */
export interface SumsubCalls {
  readonly levelName: string | null
  readonly findsByName: boolean
  redeem(request: Omit<RedeemRequest, 'integrationAddress'> & { readonly signal: AbortSignal }): Promise<Applicant>
  find(externalUserId: string, signal: AbortSignal): Promise<Applicant | null>
  review(applicantId: string, signal: AbortSignal): Promise<DatedReview | null>
}

/** Options besides those of `createSumsubClient`. */
export interface SumsubIdentityProviderOptions {
  /** @default one that takes every answer that HTTP allows */
  readonly fetch?: typeof fetch | undefined
  /** Requests in 5 seconds. @default redemptions 40, lookUps 120, polls 60 */
  readonly limits?: ProviderLimits | undefined
  /** @default the system's */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** For the rate limits, in milliseconds. @default performance.now */
  readonly monotonicClock?: Pick<Clock, 'now'> | undefined
}

/** Statuses of gateways for a URL or headers that are too long: in these requests only the token can be too long. */
const tooLongStatuses = new Set([414, 431])

/** Errors of the calls after which the provider has done nothing. Their classes are not loaded: codes name them. */
type KnownError = Sumsub.TokenRejectedError | Sumsub.ProviderThrottledError | Sumsub.ProviderSetupError

/**
 * Creates the provider for `createService`. None of its calls rejects. Call `close()` when the service has stopped: it
 * aborts requests in flight. An aborted redemption has an unknown outcome, which is looked up after the next start.
 * @param createApi - `createSumsubClient` of `@payment-integration/identity-sumsub/service`, which is not loaded here.
 * @throws TypeError When an option is blank or malformed. @throws RangeError When `timeoutMs` is out of range.
 * @example
 * import { createSumsubClient } from '@payment-integration/identity-sumsub/service'
 * import { createSumsubIdentityProvider } from '@payment-integration/server'
 * const options = { appToken: 'sbx:token', secretKey: process.env['SUMSUB_SECRET_KEY'] ?? '', levelName: 'basic-kyc' }
 * const provider = createSumsubIdentityProvider(createSumsubClient, options)
 */
export function createSumsubIdentityProvider<Options extends object>(
  createApi: (options: Options) => SumsubCalls,
  options: SumsubIdentityProviderOptions & Options,
): ClosableIdentityProvider {
  const { limits, monotonicClock, clock = systemClock, fetch = createFetch() } = options
  const api = createApi({ ...options, fetch })
  const aborter = new AbortController()
  const { signal } = aborter

  function toRejection(thrown: unknown): ProviderRejection | null {
    const error = (thrown ?? {}) as KnownError | { readonly code?: never }
    switch (error.code) {
      case 'ERR_PROVIDER_TOKEN_REJECTED':
        return { kind: 'rejected', message: error.providerMessage, providerCode: error.providerCode }
      case 'ERR_PROVIDER_THROTTLED':
        return { kind: 'throttled', retryAfterMs: error.retryAfterMs }
      case 'ERR_PROVIDER_SETUP': {
        const { status, providerCode, code } = error
        if (tooLongStatuses.has(status)) return { kind: 'rejected', message: tokenTooLong, providerCode: status }
        const reason = providerCode === null ? code : `${code} ${providerCode}`
        return { kind: 'misconfigured', reason, facts: { status, code } }
      }
      default:
        return null
    }
  }
  async function toAnswer<T>(call: () => Promise<T>): Promise<ProviderAnswer<T>> {
    try {
      return { kind: 'answer', value: await call() }
    } catch (error) {
      const rejection = toRejection(error)
      // A look-up or a poll sends no token, so an answer that rejects one is unusable.
      return rejection === null || rejection.kind === 'rejected'
        ? { kind: 'unavailable', reason: getProviderCode(error) }
        : rejection
    }
  }

  const unlimited: IdentityProvider = {
    levelName: api.levelName,
    findsByName: api.findsByName,
    async redeem({ shareToken, externalUserId, sendBy }) {
      try {
        return { kind: 'redeemed', applicant: await api.redeem({ shareToken, externalUserId, sendBy, signal }) }
      } catch (error) {
        if (getProviderCode(error) === 'ERR_PROVIDER_LATE') return { kind: 'unsent' }
        return toRejection(error) ?? { kind: 'unknown', reason: getProviderCode(error) }
      }
    },
    find: (externalUserId) => toAnswer(() => api.find(externalUserId, signal)),
    review: (applicantId) => toAnswer(() => api.review(applicantId, signal)),
  }
  const limited = limitProvider(unlimited, { clock, limits, monotonicClock })
  return {
    ...limited,
    close() {
      limited.close()
      aborter.abort()
    },
  }
}

/** Returns the code only: the message of an unexpected error may hold request data. */
function getProviderCode(error: unknown): string {
  // The code of an abort is a number.
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && code.startsWith('ERR_PROVIDER_') ? code : 'ERR_PROVIDER_UNEXPECTED'
}
