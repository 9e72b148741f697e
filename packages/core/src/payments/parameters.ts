/** Parses hashes and addresses of requests. Source: docs/interface.md 4.1, 7. @module */
import { BadRequestError } from '../errors.js'

/**
 * Parses a transaction hash in any case.
 * @throws BadRequestError `ERR_TX_HASH_INVALID`.
 */
export function parseTxHash(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  throw new BadRequestError('ERR_TX_HASH_INVALID', 'txHash must be a 32-byte hex string: 0x and 64 hex digits')
}

/**
 * Parses an address in any case.
 * @throws BadRequestError `ERR_ADDRESS_INVALID`.
 */
export function parseAddress(text: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  throw new BadRequestError('ERR_ADDRESS_INVALID', 'address must be a 20-byte hex string: 0x and 40 hex digits')
}
