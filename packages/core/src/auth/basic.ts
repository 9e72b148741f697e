/** Reads an `Authorization: Basic` header, strictly. Source: INTERFACE 5, rules 1 and 2. @module */

/** The two halves of the header. */
export interface BasicCredentials {
  /** Integration address, lowercased. */
  readonly address: string
  readonly secret: string
}

/** Longest header value looked at; credentials of this service need about 130 characters. */
const maxLength = 512

const pattern = /^basic +([A-Za-z0-9+/]+={0,2})$/i
const addressPattern = /^0x[0-9a-f]{40}$/
// Control characters never occur in an issued secret; refused before anything is compared.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const control = /[\u0000-\u001f\u007f]/

/**
 * Parses the header's value, or returns null. The scheme is case-insensitive; base64 must be canonical; the first colon
 * splits; the raw `address:secret` form is refused like any other malformed value.
 */
export function parseBasic(authorization: string | null | undefined): BasicCredentials | null {
  if (typeof authorization !== 'string' || authorization.length > maxLength) return null
  const encoded = pattern.exec(authorization)?.[1]
  if (encoded === undefined) return null
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return null
  const text = bytes.toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0 || control.test(text)) return null
  const address = text.slice(0, colon).toLowerCase()
  const secret = text.slice(colon + 1)
  return addressPattern.test(address) && secret !== '' ? { address, secret } : null
}
