/**
 * Parses handles, the names of accounts. Source: docs/interface.md 2.4 (accounts response), 4.3 (`address` or handle).
 * @module
 */
import { lowercaseAddress } from '../internal/address.js'

const pattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/**
 * Parses a handle: 1 to 63 ASCII letters, digits, dots, underscores and hyphens, the first and last a letter or digit.
 * The shape of an address is rejected, so that no handle passes for an address.
 *
 * @returns The handle lowercased, or null. Only ASCII is lowercased: some letters of other alphabets lowercase into
 * ASCII.
 */
export function parseHandle(text: string): string | null {
  if (!pattern.test(text)) return null
  const handle = text.toLowerCase()
  return lowercaseAddress(handle) === null ? handle : null
}
