/** Parses the body of a share request. Source: docs/interface.md 4.2, 7 (400). @module */
import { shareRequestLimits, shareRequestSchema, unreadableJsonMessage } from '@payment-integration/contract'
import { assertModestJson } from '@payment-integration/contract/parse'
import { normaliseEmail } from '../emails/normalise-email.js'
import { findDuplicateKey } from '../internal/duplicate-key.js'
import { ShareRequestError } from './errors.js'

/** Longest token in a URL query, in bytes. Tokens of the provider have 1 KB at most and need no escapes. */
export const mostTokenBytes = shareRequestLimits.kycShareToken

/** A parsed body. */
export interface ShareBody {
  /** Normalised. */
  readonly email: string
  /** Verbatim. */
  readonly shareToken: string
}

/**
 * Parses the body: JSON in UTF-8, no duplicate key, the e-mail address in its normal form, the token verbatim. Unknown
 * fields are ignored. No message repeats a value.
 * @throws ShareRequestError `ERR_SHARE_INVALID`.
 */
export function parseShareRequest(body: Uint8Array): ShareBody {
  const parsed = shareRequestSchema.safeParse(parseJson(body))
  if (!parsed.success) throw new ShareRequestError(flawOf(parsed.error.issues[0]))
  const email = normaliseEmail(parsed.data.email)
  if (email === null) throw new ShareRequestError(notAnEmail)
  const { kycShareToken: shareToken } = parsed.data
  // A lone surrogate cannot be sent verbatim.
  if (/\p{Surrogate}/u.test(shareToken)) throw new ShareRequestError('kycShareToken must be well-formed Unicode')
  if (String(new URLSearchParams({ '': shareToken })).length - 1 > mostTokenBytes)
    throw new ShareRequestError(`kycShareToken is longer than ${mostTokenBytes} bytes in a URL`)
  return { email, shareToken }
}

const notAnEmail = 'email must be a valid email address'

function flawOf(issue: { readonly code: string; readonly path: readonly PropertyKey[] } | undefined): string {
  switch (issue?.path[0]) {
    case 'email':
      return notAnEmail
    case 'kycShareToken':
      return issue.code === 'too_big'
        ? `kycShareToken is longer than ${shareRequestLimits.kycShareToken} characters`
        : 'kycShareToken must be a non-empty string'
    default:
      return 'Body must be a JSON object'
  }
}

function parseJson(body: Uint8Array): unknown {
  let value: unknown
  let text: string
  try {
    assertModestJson(body)
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    value = JSON.parse(text)
  } catch {
    throw new ShareRequestError(unreadableJsonMessage(body, 'Body must be JSON in UTF-8'))
  }
  if (findDuplicateKey(text) !== null) throw new ShareRequestError('Body names a field twice')
  return value
}
