/** Parses an `Authorization: Basic` header, strictly. Source: docs/interface.md 5, rules 1 and 2. @module */

/** Address and secret of a header, or of the stand-in. */
export interface BasicCredentials {
  /** False when the header is missing or malformed: the other fields are then the stand-in's, which match nothing. */
  readonly wellFormed: boolean
  /** Integration address, lowercased. */
  readonly address: string
  readonly secret: string
}

/** Longest accepted header value; credentials of this service need about 130 characters. */
const maxLength = 512

// As long as real credentials, so that the time is the same. No integration can have this address.
const nobody = { address: `0x${'x'.repeat(40)}`, secret: 'x'.repeat(50) }
const standIn = Buffer.from(`${nobody.address}:${nobody.secret}`).toString('base64')
/** Takes the place of a missing header, so that its absence saves no work. */
export const standInHeader = `Basic ${standIn}`

const pattern = /^basic +([A-Za-z0-9+/]+={0,2})$/i
const addressPattern = /^0x[0-9a-fA-F]{40}$/
// Control characters never occur in an issued secret; rejected before any comparison.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const control = /[\u0000-\u001f\u007f]/

/**
 * Parses the header's value. The scheme is case-insensitive, base64 must be canonical, the first colon splits. The
 * address is `0x` and 40 hex digits in any case. The raw `address:secret` form is malformed. A malformed header is
 * replaced by the stand-in and takes every step of a good one.
 */
export function parseBasic(authorization: string | null | undefined): BasicCredentials {
  const isRead = typeof authorization === 'string' && authorization.length <= maxLength
  const encoded = pattern.exec(isRead ? authorization : standInHeader)?.[1] ?? standIn
  const bytes = Buffer.from(encoded, 'base64')
  const isCanonical = bytes.toString('base64') === encoded
  const text = bytes.toString('utf8')
  const colon = text.indexOf(':')
  const address = text.slice(0, colon)
  const secret = text.slice(colon + 1)
  const wellFormed = isCanonical && colon >= 0 && !control.test(text) && addressPattern.test(address) && secret !== ''
  return {
    wellFormed,
    address: wellFormed ? address.toLowerCase() : nobody.address,
    secret: wellFormed ? secret : nobody.secret,
  }
}
