/** Reads a request before its route. Source: docs/interface.md 4, 7; docs/decisions/hostile-requests.md. @module */
import type { IncomingMessage } from 'node:http'
import { jsonContentType } from '@payment-integration/contract/internal'
import type { LegacyCaller } from '@payment-integration/core'
import { type Caller, InvalidParameterError } from '@payment-integration/core/internal'
import type { Context } from 'hono'
import { ServerError } from '../errors.js'

/** A request that is rejected for its form. */
export class HttpRequestError extends ServerError {
  override readonly name = 'HttpRequestError'
  readonly code:
    | 'ERR_BODY_UNEXPECTED'
    | 'ERR_CONTENT_TYPE'
    | 'ERR_HEADER_REPEATED'
    | 'ERR_QUERY_MALFORMED'
    | 'ERR_TRIGGER_INVALID'
    | 'ERR_UPDATE_INVALID'
  constructor(code: HttpRequestError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Types of the Hono context. */
export interface AppEnv {
  /** `incoming` is set on Node's HTTP server. It shows repeated headers, which the fetch request hides. */
  Bindings: { readonly incoming?: IncomingMessage }
  /** `requestId` is set first; authentication sets `caller`, or `legacy` on paths of the legacy API. */
  Variables: { requestId: string; caller: Caller; legacy?: LegacyCaller }
}

/**
 * Whether a request repeats a header. Only Node's own message shows that; on another host the answer is false, and the
 * host decides which value counts.
 * @param name - In lower case.
 */
function isRepeated({ env }: Context<AppEnv>, name: string): boolean {
  const raw = env?.incoming?.rawHeaders ?? []
  let count = 0
  for (let index = 0; index < raw.length; index += 2) {
    const each = raw[index]
    if (each?.length === name.length && each.toLowerCase() === name) count += 1
  }
  return count > 1
}

/**
 * Rejects a request with two content types. Call it after authentication.
 * @throws HttpRequestError `ERR_HEADER_REPEATED`.
 */
export function rejectTwoContentTypes(c: Context<AppEnv>): void {
  if (isRepeated(c, 'content-type'))
    throw new HttpRequestError('ERR_HEADER_REPEATED', 'Header content-type is given more than once')
}

/** Largest body of a JSON route, in bytes. */
export const maxBodyBytes = 16 * 1024

/** The raw path: nothing decoded, nothing resolved. */
export function getRawPath(c: Context<AppEnv>): string {
  const { url } = c.req.raw
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(start).search(/[?#]/)
  return end < 0 ? url.slice(start) : url.slice(start, start + end)
}

/** The `Authorization` header; null when missing or repeated: a proxy could read another value than we do. */
export function getAuthorization(c: Context<AppEnv>): string | null {
  return isRepeated(c, 'authorization') ? null : (c.req.header('authorization') ?? null)
}

/**
 * Rejects a body on a request that takes none. Source: RFC 9112 section 6.
 * @throws HttpRequestError `ERR_BODY_UNEXPECTED`.
 */
export function rejectBody({ headers }: Request): void {
  if (headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0')
    throw new HttpRequestError('ERR_BODY_UNEXPECTED', 'This request takes no body; send none')
}

/** `utf8` is also a label of UTF-8. Source: WHATWG Encoding section 4.2. */
const acceptedContentType = /^application\/json(; ?charset=utf-?8)?$/i

/** The problem of a content type that is not plain JSON in UTF-8, or null. */
export function findContentTypeFlaw(headers: Headers): string | null {
  if (!acceptedContentType.test(headers.get('content-type') ?? '')) return `Content-Type must be ${jsonContentType}`
  return findContentEncodingFlaw(headers)
}

/** The problem of headers that name another charset or encoding, or null. Any content type passes, even none. */
export function findEncodingFlaw(headers: Headers): string | null {
  if (listCharsets(headers.get('content-type') ?? '').some((charset) => charset !== 'utf-8' && charset !== 'utf8'))
    return 'Content-Type must name no charset but utf-8'
  return findContentEncodingFlaw(headers)
}

/**
 * Rejects a body that is not announced as plain JSON in UTF-8.
 * @throws HttpRequestError `ERR_CONTENT_TYPE` for another or no content type, and for any content encoding.
 */
export function requireJsonContentType(headers: Headers): void {
  const flaw = findContentTypeFlaw(headers)
  if (flaw !== null) throw new HttpRequestError('ERR_CONTENT_TYPE', flaw)
}

function findContentEncodingFlaw(headers: Headers): string | null {
  return headers.has('content-encoding') ? 'Content-Encoding is not accepted; send the body as it is' : null
}

/** Every charset in a content type, in lower case and without quotes. */
function listCharsets(contentType: string): string[] {
  return contentType
    .toLowerCase()
    .split(/[;,]/)
    .map((parameter) => parameter.split('='))
    .filter(([name]) => name?.trimEnd().endsWith('charset'))
    .map(([, ...value]) => value.join('=').replaceAll('"', '').trim())
}

/**
 * The `limit` and `cursor` of a URL, as sent. Other parameters are ignored. Source: docs/interface.md 4.1.
 * @returns An empty cursor in place of one that is repeated or badly encoded; it is rejected like any invalid cursor.
 * @throws InvalidParameterError `ERR_LIMIT_INVALID` when the limit is repeated or not valid percent-encoding.
 * @throws HttpRequestError `ERR_QUERY_MALFORMED` when the query string holds a name that cannot be decoded.
 */
export function parseListQuery(url: string): { limit?: string; cursor?: string } {
  const query: { limit?: string; cursor?: string } = {}
  for (const pair of getRawQuery(url).split('&')) {
    const equals = pair.indexOf('=')
    const name = decodeText(equals < 0 ? pair : pair.slice(0, equals))
    if (name === null) throw new HttpRequestError('ERR_QUERY_MALFORMED', 'Query string is not valid percent-encoding')
    if (name !== 'limit' && name !== 'cursor') continue
    const value = decodeText(equals < 0 ? '' : pair.slice(equals + 1))
    if (name === 'cursor') query.cursor = query.cursor === undefined ? (value ?? '') : ''
    else if (value === null) throw new InvalidParameterError('ERR_LIMIT_INVALID', 'limit is not valid percent-encoding')
    else if (query.limit !== undefined)
      throw new InvalidParameterError('ERR_LIMIT_INVALID', 'limit is given more than once')
    else query.limit = value
  }
  return query
}

function getRawQuery(url: string): string {
  const end = url.indexOf('#')
  const whole = end < 0 ? url : url.slice(0, end)
  const start = whole.indexOf('?')
  return start < 0 ? '' : whole.slice(start + 1)
}

function decodeText(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
