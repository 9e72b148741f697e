/** The identity provider of the service: the adapter's errors as the outcomes of the port, within its rate limits. @module */
import { ShareTokenRejectedError, systemClock } from '@payment-integration/core'
import type { Answer, Clock, IdentityProvider, ProviderRefusal } from '@payment-integration/core/ports'
import {
  ProviderError,
  ProviderSetupError,
  ProviderThrottledError,
  RequestLateError,
  TokenRejectedError,
} from '@payment-integration/identity-sumsub'
import { createProvider, type ProviderOptions } from '@payment-integration/identity-sumsub/service'
import { type LimitedProvider, limitProvider, type ProviderLimits } from './limited-provider.js'

/** How the provider is used. */
export interface SumsubOptions extends ProviderOptions {
  /** @default providerLimits */
  readonly limits?: ProviderLimits | undefined
  /** @default the system's */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Milliseconds on a clock that never goes back, for the rate limits. @default performance.now */
  readonly elapsed?: (() => number) | undefined
}

/** What gateways answer to a request whose address or headers are too long: of ours only the token can be. */
const tooLong = new Set([414, 431])

/** In place of the provider's words: a gateway's page is for nobody. */
const tooLongMessage = 'The share token is longer than the identity provider takes'

/** Whether a refusal says that the token is too long: the caller's request is malformed then. */
export function isTooLong(error: unknown): boolean {
  return error instanceof ShareTokenRejectedError && error.providerMessage === tooLongMessage
}

/**
 * Builds the provider. No call of it rejects. Closing it ends what is under way: a redemption whose answer is lost by that is looked up after the next start.
 * @throws TypeError When an option is blank or malformed.
 */
export function createSumsubProvider(options: SumsubOptions): LimitedProvider {
  const { limits, elapsed, clock = systemClock, ...given } = options
  const provider = createProvider(given)
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
  async function asked<T>(ask: () => Promise<T>): Promise<Answer<T>> {
    try {
      return { kind: 'answer', value: await ask() }
    } catch (error) {
      const refusal = refusalOf(error)
      // A question has no token that could be refused: such an answer is none.
      return refusal === null || refusal.kind === 'rejected' ? { kind: 'unavailable', reason: codeOf(error) } : refusal
    }
  }

  const unlimited: IdentityProvider = {
    levelName: provider.levelName,
    findsByName: provider.findsByName,
    async redeem({ shareToken, externalUserId, sendBy }) {
      try {
        return { kind: 'redeemed', applicant: await provider.redeem({ shareToken, externalUserId, sendBy, signal }) }
      } catch (error) {
        if (error instanceof RequestLateError) return { kind: 'unsent' }
        return refusalOf(error) ?? { kind: 'unknown', reason: codeOf(error) }
      }
    },
    find: (externalUserId) => asked(() => provider.find(externalUserId, signal)),
    review: (applicantId) => asked(() => provider.review(applicantId, signal)),
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

/** A code alone: the message of an error that nobody foresaw may hold what was sent. */
function codeOf(error: unknown): string {
  return error instanceof ProviderError ? error.code : 'ERR_PROVIDER_UNEXPECTED'
}
