/** Parses the transaction of a legacy request. Source: docs/interface.md 4.3. @module */
import { RequestFlaws } from './request-flaws.js'

/** Identifies a transaction. */
export interface TransactionKey {
  readonly chainId: number
  /** Lowercased. */
  readonly txHash: string
}

/** Parses a chain id: at most 15 decimal digits without sign or leading zero. Else it notes the flaw. */
export function readChainId(text: string, flaws: RequestFlaws): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text)
  flaws.add('chainId', 'invalid_format', 'must be a positive whole number in decimal digits, 15 at most')
  return 0
}

/** Parses a hash: 0x and 64 hex digits, in any case. Else it notes the flaw. */
export function readTxHash(text: string, flaws: RequestFlaws): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  flaws.add(
    'txHash',
    'invalid_format',
    'must start with 0x and have a fixed length of 66 characters, 64 of them hex digits',
  )
  return ''
}

/**
 * Parses the path parameters of the look-up.
 * @throws LegacyRequestError `ERR_LEGACY_REQUEST_INVALID` with every flaw.
 */
export function parseTransactionKey(query: { readonly chainId: string; readonly txHash: string }): TransactionKey {
  const flaws = new RequestFlaws()
  const key = { chainId: readChainId(query.chainId, flaws), txHash: readTxHash(query.txHash, flaws) }
  flaws.throwIfAny()
  return key
}
