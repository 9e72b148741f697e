/** Checks the content type and encoding of a body. Source: docs/decisions/hostile-requests.md. @module */
import { jsonContentType } from '@payment-integration/contract'
import { HttpRequestError } from './http-errors.js'

/** `utf8` is also a label of UTF-8. Source: WHATWG Encoding section 4.2. */
const accepted = /^application\/json(; ?charset=utf-?8)?$/i

/** The problem of a content type that is not plain JSON in UTF-8, or null. */
export function contentTypeFlaw(headers: Headers): string | null {
  if (!accepted.test(headers.get('content-type') ?? '')) return `Content-Type must be ${jsonContentType}`
  return contentEncodingFlaw(headers)
}

/** The problem of headers that name another charset or encoding, or null. Any content type passes, and none. */
export function encodingFlaw(headers: Headers): string | null {
  if (charsetsOf(headers.get('content-type') ?? '').some((charset) => charset !== 'utf-8' && charset !== 'utf8'))
    return 'Content-Type must name no charset but utf-8'
  return contentEncodingFlaw(headers)
}

/**
 * Rejects a body that is not announced as plain JSON in UTF-8.
 * @throws HttpRequestError `ERR_CONTENT_TYPE` for another or no content type, and for any content encoding.
 */
export function requireJson(headers: Headers): void {
  const flaw = contentTypeFlaw(headers)
  if (flaw !== null) throw new HttpRequestError('ERR_CONTENT_TYPE', flaw)
}

function contentEncodingFlaw(headers: Headers): string | null {
  return headers.has('content-encoding') ? 'Content-Encoding is not accepted; send the body as it is' : null
}

/** Every charset in a content type, in lower case and without quotes. */
function charsetsOf(contentType: string): string[] {
  return contentType
    .toLowerCase()
    .split(/[;,]/)
    .map((parameter) => parameter.split('='))
    .filter(([name]) => name?.trimEnd().endsWith('charset'))
    .map(([, ...value]) => value.join('=').replaceAll('"', '').trim())
}
