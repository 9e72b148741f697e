/** The memo as text. Source: INTERFACE 2.1 `memo` (verbatim). @module */

import { isUtf8 } from 'node:buffer'

/**
 * Reads a memo's 32 bytes as UTF-8 without the NUL padding. Bytes that are not UTF-8 come back as the 0x hex of all 32,
 * which no text memo can be, since it is longer than 32 bytes.
 * @param memoHex - 0x and 64 hex digits.
 */
export function memoText(memoHex: string): string {
  const bytes = Buffer.from(memoHex.slice(2), 'hex')
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end -= 1
  const text = bytes.subarray(0, end)
  return isUtf8(text) ? text.toString('utf8') : memoHex
}
