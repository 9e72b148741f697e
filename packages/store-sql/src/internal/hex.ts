/** Converts hashes and addresses between `0x` text and the bytes of a column. @module */

/** Whether a text is `0x` and pairs of lowercase hex digits. */
export const isHex = (text: string): boolean => /^0x(?:[0-9a-f]{2})*$/.test(text)

/**
 * The digits of `0x` text.
 * @throws TypeError When it has other characters, or half a byte: bytes made of it would be those of another text.
 */
export function hexDigits(text: string): string {
  if (isHex(text)) return text.slice(2)
  throw new TypeError(`${JSON.stringify(text.slice(0, 100))} is not 0x and pairs of lowercase hex digits.`)
}

/** The bytes of `0x` text, as a parameter of a statement. @throws TypeError As {@link hexDigits}. */
export const hexBytes = (text: string): Uint8Array => Buffer.from(hexDigits(text), 'hex')

/** The bytes to look up for any text. Empty, which no hash or address is, for text that {@link isHex} rejects. */
export const keyBytes = (text: string): Uint8Array => hexBytes(isHex(text) ? text : '0x')

/** The text of bytes that a statement read: PostgreSQL may return them as text, with `\x` for `0x`. */
export function hexOf(read: Uint8Array | string): string {
  if (typeof read === 'string') {
    if (!read.startsWith('\\x')) throw new TypeError('Bytes are no hex digits; set bytea_output of PostgreSQL to hex.')
    return `0x${read.slice(2)}`
  }
  return `0x${Buffer.from(read.buffer, read.byteOffset, read.byteLength).toString('hex')}`
}

/** The same for a nullable column. */
export const nullableHexOf = (read: Uint8Array | string | null): string | null => (read === null ? null : hexOf(read))
