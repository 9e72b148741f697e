/** Parses the parameters of requests: limit, hash, address and name. Source: docs/interface.md 4.1. @module */
import { pageLimit } from '@payment-integration/contract'
import { InvalidParameterError } from '../errors.js'

/** Parses plain ASCII digits without sign, space, exponent or leading zero, from 1 to 200; else `ERR_LIMIT_INVALID`. */
export function parseLimit(text: string | undefined): number {
  if (text === undefined) return pageLimit.default
  const limit = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN
  if (limit >= pageLimit.min && limit <= pageLimit.max) return limit
  throw new InvalidParameterError(
    'ERR_LIMIT_INVALID',
    `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`,
  )
}

/** Lowercases a transaction hash; else `ERR_TX_HASH_INVALID`. */
export function parseTxHash(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  throw new InvalidParameterError('ERR_TX_HASH_INVALID', 'txHash must be a 32-byte hex string: 0x and 64 hex digits')
}

/** Lowercases an address; else `ERR_ADDRESS_INVALID`. */
export function parseAddress(text: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  throw new InvalidParameterError('ERR_ADDRESS_INVALID', 'address must be a 20-byte hex string: 0x and 40 hex digits')
}

/** Rejects control characters, line breaks and direction marks, because names appear on terminals and in logs. */
export function parseName(text: string): string {
  if (!/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text)) return text
  throw new InvalidParameterError(
    'ERR_NAME_INVALID',
    'name must not hold control characters, line breaks or marks of direction',
  )
}
