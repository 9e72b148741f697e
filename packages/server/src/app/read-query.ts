/** Reads a query string strictly: a repeated or undecodable parameter is refused, never guessed at. @module */
import { InvalidRequestError } from '@payment-integration/core'
import { HttpRequestError } from './http-errors.js'

/** The query parameters of both list endpoints, as sent. Source: INTERFACE 4.1. */
export interface ListQuery {
  readonly limit?: string
  readonly cursor?: string
}

const codes = { limit: 'ERR_LIMIT_INVALID', cursor: 'ERR_CURSOR_INVALID' } as const

/**
 * The `limit` and `cursor` of a URL. Other parameters are ignored.
 * @throws InvalidRequestError `ERR_LIMIT_INVALID`, `ERR_CURSOR_INVALID` when one is repeated or not valid percent-encoding.
 * @throws HttpRequestError `ERR_QUERY_MALFORMED` when the query string holds a name that cannot be decoded.
 */
export function readListQuery(url: string): ListQuery {
  const query: { limit?: string; cursor?: string } = {}
  for (const pair of rawQuery(url).split('&')) {
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    if (name === null) throw new HttpRequestError('ERR_QUERY_MALFORMED', 'Query string is not valid percent-encoding')
    if (name !== 'limit' && name !== 'cursor') continue
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1))
    if (value === null) throw new InvalidRequestError(codes[name], `${name} is not valid percent-encoding`)
    if (query[name] !== undefined) throw new InvalidRequestError(codes[name], `${name} is given more than once`)
    query[name] = value
  }
  return query
}

function rawQuery(url: string): string {
  const end = url.indexOf('#')
  const whole = end < 0 ? url : url.slice(0, end)
  const start = whole.indexOf('?')
  return start < 0 ? '' : whole.slice(start + 1)
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
