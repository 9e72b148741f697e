/**
 * What a failed answer of the provider means for us. Source: docs/interface.md 7 (422),
 * docs/decisions/identity-provider.md.
 *
 * @module
 */

import type { ProviderAnswer } from './connection.js'
import {
  ProviderAnswerError,
  type ProviderError,
  ProviderSetupError,
  ProviderThrottledError,
  ProviderUnavailableError,
  TokenRejectedError,
} from './errors.js'
import { field, text, whole } from './internal/json.js'

/**
 * Numbers that say that the donor's token or verification cannot be used: the integrator can act on each of them. Among
 * them are two that say that reuse, or copying, is switched off for us: those are ours.
 */
const aboutToken = { first: 10_501, last: 10_599 }
const reuseDisabled = 10_505
/**
 * The provider's page on copying gives this number to `copy-applicant-disabled`, its list for reuse to
 * `reusable-kyc-email-mismatch`.
 */
const ambiguous = { code: 10_518, aboutToken: 'reusable-kyc-email-mismatch' }

/** Kept of the provider's own words. */
const mostCharacters = 500

/**
 * How a refused share token is described when the answer has no number. Everything else that is a 401 is about our own
 * credentials.
 */
const invalidToken = 'Token is invalid'

/**
 * The error of an answer that is no success.
 *
 * 401 is the trap: the provider uses it for a share token that expired or was used, and for our own signature, clock or
 * app token. Only the first may reach an integrator as "mint a fresh token", and only where a share token was sent.
 */
export function classifyFailure(
  { status, json, retryAfter }: ProviderAnswer,
  { sentShareToken }: { readonly sentShareToken: boolean },
): ProviderError {
  const code = whole(field(json, 'errorCode'))
  if (status === 429) return new ProviderThrottledError(parseSeconds(retryAfter))
  if (status === 408 || status >= 500) return new ProviderUnavailableError(status)
  if (status < 400) return new ProviderAnswerError(status, 'neither an answer nor an error')
  if (status === 409) return new ProviderAnswerError(status, 'a conflict with what is there already')
  const name = text(field(json, 'errorName'))
  const description = text(field(json, 'description'))
  if (sentShareToken && isAboutToken(status, { code, name, description }))
    return new TokenRejectedError((description ?? name ?? `Error ${code}`).slice(0, mostCharacters), code)
  return new ProviderSetupError(status, code)
}

function isAboutToken(
  status: number,
  said: { readonly code: number | null; readonly name: string | null; readonly description: string | null },
): boolean {
  const { code, name, description } = said
  if (code === ambiguous.code) return name === ambiguous.aboutToken
  if (code !== null) return code >= aboutToken.first && code <= aboutToken.last && code !== reuseDisabled
  return status === 401 && description !== null && description.startsWith(invalidToken)
}

function parseSeconds(retryAfter: string | null): number | null {
  return retryAfter !== null && /^[0-9]{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : null
}
