/**
 * Maps failed answers of the provider to errors. Source: docs/interface.md 7 (422),
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
 * Error numbers about the donor's token or verification, on which the integrator can act. Two numbers in the range mean
 * that reuse or copying is switched off for the service; its operator must act on those.
 */
const aboutToken = { first: 10_501, last: 10_599 }
const reuseDisabled = 10_505
/**
 * An ambiguous number: `copy-applicant-disabled` on the provider's page on copying, `reusable-kyc-email-mismatch` in
 * its list for reuse.
 */
const ambiguous = { code: 10_518, aboutToken: 'reusable-kyc-email-mismatch' }

/** Longest part of the provider's description that an error keeps. */
const mostCharacters = 500

/**
 * The description of a rejected share token without a number. Any other 401 is about the service's own credentials.
 */
const invalidToken = 'Token is invalid'

/**
 * The error of a failed answer.
 *
 * The provider uses 401 both for an expired or used share token and for the service's own signature, clock or app
 * token. Only the first may tell the integrator to mint a fresh token, and only if the call sent a share token.
 */
export function classifyFailure(
  { status, json, retryAfterMs }: ProviderAnswer,
  { sentShareToken }: { readonly sentShareToken: boolean },
): ProviderError {
  const code = whole(field(json, 'errorCode'))
  if (status === 429) return new ProviderThrottledError(retryAfterMs)
  if (status === 408 || status >= 500) return new ProviderUnavailableError(status)
  if (status < 400) return new ProviderAnswerError(status, 'neither an answer nor an error')
  if (status === 409) return new ProviderAnswerError(status, 'a conflict with what is there already')
  const name = text(field(json, 'errorName'))
  const description = text(field(json, 'description'))
  if (sentShareToken && isAboutToken(status, { code, name, description }))
    return new TokenRejectedError((description || name || `Error ${code}`).slice(0, mostCharacters), code)
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
