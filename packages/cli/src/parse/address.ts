/** Integration addresses on the command line. @module */
import { InvalidArgumentError } from 'commander'

/**
 * Reads a 20-byte hex address in any case.
 * @returns The address, lowercased.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseAddress(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError('Expected 0x and 40 hex digits.')
  return text.toLowerCase()
}
