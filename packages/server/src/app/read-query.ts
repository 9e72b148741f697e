/** Parses a query string; a repeated or undecodable parameter is rejected. @module */
import { BadRequestError } from '@payment-integration/core'
import { HttpRequestError } from './http-errors.js'

/** The query parameters of both list endpoints, as sent. Source: docs/interface.md 4.1. */
export interface ListQuery {
  readonly limit?: string
  readonly cursor?: string
}

// No valid cursor is empty. Every invalid cursor gets the same answer.
const noCursor = ''

/**
 * The `limit` and `cursor` of a URL. Other parameters are ignored.
 *
 * @returns An empty cursor in place of one that is repeated or badly encoded; it is rejected like any invalid cursor.
 *
 * @throws BadRequestError `ERR_LIMIT_INVALID` when the limit is repeated or not valid percent-encoding.
 *
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
    if (name === 'cursor') query.cursor = query.cursor === undefined ? (value ?? noCursor) : noCursor
    else if (value === null) throw invalidLimit('limit is not valid percent-encoding')
    else if (query.limit !== undefined) throw invalidLimit('limit is given more than once')
    else query.limit = value
  }
  return query
}

function invalidLimit(message: string): BadRequestError {
  return new BadRequestError('ERR_LIMIT_INVALID', message)
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
