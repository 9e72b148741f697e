/** Adapts Sumsub to the identity provider port, within its rate limits. @module */
import { systemClock } from '@payment-integration/core'
import { RedemptionRejectedError } from '@payment-integration/core/identity'
import type { Answer, Clock, IdentityProvider, ProviderRefusal } from '@payment-integration/core/ports'
import {
  ProviderError,
  ProviderSetupError,
  ProviderThrottledError,
  RequestLateError,
  TokenRejectedError,
} from '@payment-integration/identity-sumsub'
import { createSumsubApi, type SumsubApiOptions } from '@payment-integration/identity-sumsub/service'
import { createFetch } from '../internal/outgoing.js'
import { type ClosableIdentityProvider, limitProvider, type ProviderLimits } from './limited-provider.js'

/** How a service uses Sumsub. */
export interface SumsubProviderOptions extends SumsubApiOptions {
  /** @default providerLimits */
  readonly limits?: ProviderLimits | undefined
  /** @default the system's */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Milliseconds on a clock that never goes back, for the rate limits. @default performance.now */
  readonly elapsed?: (() => number) | undefined
}

/** Gateways' answers to a URL or headers that are too long. In our requests only the token can be. */
const tooLong = new Set([414, 431])

/** Replaces a gateway's error page, which helps no caller. */
const tooLongMessage = 'The share token is longer than the identity provider takes'

/** Whether a refusal means that the token is too long, so that the caller's request is malformed. */
export function isTooLong(error: unknown): boolean {
  return error instanceof RedemptionRejectedError && error.providerMessage === tooLongMessage
}

/**
 * Builds the provider for `createService`. None of its calls rejects. `close()` aborts requests in flight: such a
 * redemption has an unknown outcome, which is looked up after the next start.
 * @throws TypeError When an option is blank or malformed.
 * @throws RangeError When `timeoutMs` is out of range.
 * @example const identity = { provider: createSumsubProvider({ appToken, secretKey, levelName: 'basic-kyc-level' }) }
 */
export function createSumsubProvider(options: SumsubProviderOptions): ClosableIdentityProvider {
  const { limits, elapsed, clock = systemClock, ...given } = options
  const api = createSumsubApi({ ...given, fetch: given.fetch ?? createFetch() })
  const ending = new AbortController()
  const { signal } = ending

  function refusalOf(error: unknown): ProviderRefusal | null {
    if (error instanceof TokenRejectedError)
      return { kind: 'rejected', message: error.providerMessage, providerCode: error.providerCode }
    if (error instanceof ProviderThrottledError) return { kind: 'throttled', retryAfterMs: error.retryAfterMs }
    if (!(error instanceof ProviderSetupError)) return null
    const { status, providerCode } = error
    if (tooLong.has(status)) return { kind: 'rejected', message: tooLongMessage, providerCode: status }
    const reason = providerCode === null ? error.code : `${error.code} ${providerCode}`
    return { kind: 'misconfigured', reason, facts: { status, code: error.code } }
  }
  async function toAnswer<T>(call: () => Promise<T>): Promise<Answer<T>> {
    try {
      return { kind: 'answer', value: await call() }
    } catch (error) {
      const refusal = refusalOf(error)
      // A look-up or a poll sends no token, so an answer that rejects one is unusable.
      return refusal === null || refusal.kind === 'rejected' ? { kind: 'unavailable', reason: codeOf(error) } : refusal
    }
  }

  const unlimited: IdentityProvider = {
    levelName: api.levelName,
    findsByName: api.findsByName,
    async redeem({ shareToken, externalUserId, sendBy }) {
      try {
        return { kind: 'redeemed', applicant: await api.redeem({ shareToken, externalUserId, sendBy, signal }) }
      } catch (error) {
        if (error instanceof RequestLateError) return { kind: 'unsent' }
        return refusalOf(error) ?? { kind: 'unknown', reason: codeOf(error) }
      }
    },
    find: (externalUserId) => toAnswer(() => api.find(externalUserId, signal)),
    review: (applicantId) => toAnswer(() => api.review(applicantId, signal)),
  }
  const limited = limitProvider(unlimited, { clock, limits, elapsed })
  return {
    ...limited,
    close() {
      limited.close()
      ending.abort()
    },
  }
}

/** Returns the code only: the message of an unexpected error may hold request data. */
function codeOf(error: unknown): string {
  return error instanceof ProviderError ? error.code : 'ERR_PROVIDER_UNEXPECTED'
}
