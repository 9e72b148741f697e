/** Parameters of the read API, from raw strings. Source: docs/interface.md 4.1, 7. @module */
import { pageLimit } from '@payment-integration/contract'
import { BadRequestError } from '../errors.js'

/**
 * Reads `limit`: plain ASCII digits without sign, space, exponent or leading zero, within 1 to 200.
 * @throws BadRequestError `ERR_LIMIT_INVALID`.
 */
export function parseLimit(text: string | undefined): number {
  if (text === undefined) return pageLimit.default
  const limit = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN
  if (limit >= pageLimit.min && limit <= pageLimit.max) return limit
  throw new BadRequestError('ERR_LIMIT_INVALID', `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`)
}

/**
 * Reads a transaction hash in any case.
 * @throws BadRequestError `ERR_TX_HASH_INVALID`.
 */
export function parseTxHash(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  throw new BadRequestError('ERR_TX_HASH_INVALID', 'txHash must be a 32-byte hex string: 0x and 64 hex digits')
}

/**
 * Reads an address in any case.
 * @throws BadRequestError `ERR_ADDRESS_INVALID`.
 */
export function parseAddress(text: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  throw new BadRequestError('ERR_ADDRESS_INVALID', 'address must be a 20-byte hex string: 0x and 40 hex digits')
}
