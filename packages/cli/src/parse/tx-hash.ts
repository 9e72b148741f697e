/** Transaction hashes on the command line. @module */
import { InvalidArgumentError } from 'commander'

/**
 * Reads a 32-byte hex hash in any case.
 * @returns The hash, lowercased.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseTxHash(text: string): string {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new InvalidArgumentError('Expected 0x and 64 hex digits.')
  return text.toLowerCase()
}
