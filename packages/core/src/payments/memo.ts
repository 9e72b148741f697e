/** The memo as text. Source: docs/interface.md 2.1 `memo` (verbatim). @module */

import { isUtf8 } from 'node:buffer'

/**
 * Parses a memo's 32 bytes as UTF-8 without the NUL padding. Bytes that are not UTF-8 are returned as the 0x hex of all
 * 32. No text memo equals such a hex string, because it is longer than 32 bytes.
 * @param memoHex - 0x and 64 hex digits.
 */
export function memoText(memoHex: string): string {
  let end = memoHex.length
  while (end > 2 && memoHex.endsWith('00', end)) end -= 2
  const text = Buffer.from(memoHex.slice(2, end), 'hex')
  return isUtf8(text) ? text.toString('utf8') : memoHex
}
