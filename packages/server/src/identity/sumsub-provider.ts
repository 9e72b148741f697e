/** The identity provider of the service: the adapter's errors as the outcomes of the port. @module */
import type { Answer, IdentityProvider, ProviderRefusal } from '@payment-integration/core/ports'
import {
  ProviderError,
  ProviderSetupError,
  ProviderThrottledError,
  TokenRejectedError,
} from '@payment-integration/identity-sumsub'
import { createProvider, type ProviderOptions } from '@payment-integration/identity-sumsub/service'

/**
 * Builds the provider. No call of it rejects.
 * @throws TypeError When an option is blank or malformed.
 */
export function createSumsubProvider(options: ProviderOptions): IdentityProvider {
  const provider = createProvider(options)
  return {
    async redeem({ shareToken, externalUserId }) {
      try {
        return { kind: 'redeemed', applicant: await provider.redeem({ shareToken, externalUserId }) }
      } catch (error) {
        return refusalOf(error) ?? { kind: 'unknown', reason: codeOf(error) }
      }
    },
    find: (externalUserId) => asked(() => provider.find(externalUserId)),
    review: (applicantId) => asked(() => provider.review(applicantId)),
  }
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

function refusalOf(error: unknown): ProviderRefusal | null {
  if (error instanceof TokenRejectedError)
    return { kind: 'rejected', message: error.providerMessage, providerCode: error.providerCode }
  if (error instanceof ProviderSetupError) return { kind: 'misconfigured', reason: error.message }
  if (error instanceof ProviderThrottledError) return { kind: 'throttled', retryAfterMs: error.retryAfterMs }
  return null
}

/** A code alone: the message of an error that nobody foresaw may hold what was sent. */
function codeOf(error: unknown): string {
  return error instanceof ProviderError ? error.code : 'ERR_PROVIDER_UNEXPECTED'
}
