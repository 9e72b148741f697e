/** Parses the page limit: 1 to 200, 50 by default. Source: docs/interface.md 4.1, 7. @module */
import { pageLimit } from '@payment-integration/contract'
import { BadRequestError } from '../errors.js'

/**
 * Parses `limit`: plain ASCII digits without sign, space, exponent or leading zero, within 1 to 200.
 * @throws BadRequestError `ERR_LIMIT_INVALID`.
 */
export function parseLimit(text: string | undefined): number {
  if (text === undefined) return pageLimit.default
  const limit = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN
  if (limit >= pageLimit.min && limit <= pageLimit.max) return limit
  throw new BadRequestError('ERR_LIMIT_INVALID', `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`)
}
