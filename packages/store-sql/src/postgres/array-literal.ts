/** Formats PostgreSQL arrays. @module */
import type { BulkColumn } from '../engine.js'
import { hexDigits } from '../internal/hex.js'

/** Text that needs no quotes, like most values: hashes, addresses and digits. */
const plain = /^[0-9][0-9a-fx]*$/

/** `0x` text as PostgreSQL's text of bytes; null stays. */
export const bytesLiteral = (value: unknown): string | null =>
  value === null ? null : `\\x${hexDigits(String(value))}`

/**
 * Numbers or text as the text of an array. `pg` formats arrays too, but its search for backslashes and quotes costs
 * more than the insert.
 */
export function arrayLiteral(values: readonly unknown[], type?: BulkColumn['type']): string {
  // Hex digits need no escape but that of PostgreSQL's `\x`.
  if (type === 'hex')
    return `{${values.map((value) => (value === null ? 'NULL' : `"\\${bytesLiteral(value)}"`)).join(',')}}`
  // Symbols and prices repeat.
  let lastText: string | undefined
  let lastQuoted = ''
  let text = '{'
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ','
    if (value === null) text += 'NULL'
    else if (typeof value === 'number') text += value
    else {
      const given = String(value)
      if (plain.test(given)) text += given
      else {
        if (given !== lastText) {
          lastText = given
          lastQuoted = `"${given.replace(/[\\"]/g, '\\$&')}"`
        }
        text += lastQuoted
      }
    }
  }
  return `${text}}`
}
