/** The one content type that a body may have. @module */
import { jsonContentType } from '@payment-integration/contract'
import { HttpRequestError } from './http-errors.js'

const accepted = /^application\/json(; ?charset=utf-8)?$/i

/**
 * Refuses a body that is not announced as plain JSON in UTF-8.
 * @throws HttpRequestError `ERR_CONTENT_TYPE` for another or no content type, and for any content encoding.
 */
export function requireJson(headers: Headers): void {
  if (!accepted.test(headers.get('content-type') ?? ''))
    throw new HttpRequestError('ERR_CONTENT_TYPE', `Content-Type must be ${jsonContentType}`)
  if (headers.has('content-encoding'))
    throw new HttpRequestError('ERR_CONTENT_TYPE', 'Content-Encoding is not accepted; send the body as it is')
}
