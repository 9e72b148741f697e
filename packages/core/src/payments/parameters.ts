/** Parses hashes, addresses and names of requests. Source: docs/interface.md 4.1, 7. @module */
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

/**
 * Returns the name of an integration or legacy key. It appears on terminals and in logs, so a character that would act
 * there is rejected: control characters, line breaks, and those that turn the direction of the text.
 * @throws BadRequestError `ERR_NAME_INVALID`.
 */
export function parseName(text: string): string {
  if (!/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text)) return text
  throw new BadRequestError(
    'ERR_NAME_INVALID',
    'name must not hold control characters, line breaks or marks of direction',
  )
}
