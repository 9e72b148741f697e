/** Decodes and encodes texts and bytes; null where the input is not in the form. @module */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/** The text of UTF-8 bytes, with its byte order mark; null for other bytes. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes)
  } catch {
    return null
  }
}

/** A saved file as UTF-8 without a byte order mark. Editors and shells also save UTF-16, with a mark or without. */
export function savedAsUtf8(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.slice(3)
  const encoding = utf16Of(bytes)
  return encoding === null ? bytes : toUtf8(new TextDecoder(encoding).decode(bytes))
}

/** The form of UTF-16 by its mark, or by the first character where that is one of ASCII; null: another encoding. */
function utf16Of([first = 0, second = 0]: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if ((first === 0xff && second === 0xfe) || (first > 0 && first < 0x80 && second === 0)) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || (first === 0 && second > 0 && second < 0x80) ? 'utf-16be' : null
}

/** The bytes of base64 or base64url, with or without padding and line ends. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const plain = text.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(plain)) return null
  try {
    return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

/** The bytes of hex, also after `\x` or `0x`. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | null {
  const digits = text.replace(/^[\\0]x/, '').replace(/\s/g, '')
  if (digits.length < 2 || digits.length % 2 === 1 || !/^[0-9a-fA-F]+$/.test(digits)) return null
  const bytes = new Uint8Array(digits.length / 2)
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16)
  return bytes
}

/** The code points that windows-1252 has in the place of the control characters 0x80 to 0x9f. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** The text as one byte a character, in Latin-1 or windows-1252; null when a character has none. */
export function toLatin1(text: string): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const place = code > 0xff ? windows1252.indexOf(text[index] ?? '') : -1
    if (code > 0xff && place < 0) return null
    bytes[index] = place < 0 ? code : 0x80 + place
  }
  return bytes
}

/** The text of Latin-1 bytes; with `asWindows` those of windows-1252. */
export function fromLatin1(bytes: Uint8Array, asWindows: boolean): string {
  const characters = Array.from(bytes, (byte) =>
    asWindows && byte >= 0x80 && byte < 0xa0 ? (windows1252[byte - 0x80] ?? '') : String.fromCharCode(byte),
  )
  return characters.join('')
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
