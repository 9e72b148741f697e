/** Bytes as the text of `encode(…, 'escape')`. @module */

const backslash = 0x5c
const zero = 0x30

/**
 * The bytes of a text of PostgreSQL's escape format: ASCII stands for itself, a backslash is doubled, all else is `\nnn` in octal digits. Most
 * bodies are ASCII, so that their text is half of what it is in hex, and is copied as it is.
 */
export function fromEscaped(text: string): Uint8Array {
  const first = text.indexOf('\\')
  if (first === -1) return Buffer.from(text, 'latin1')
  const found = Buffer.allocUnsafe(text.length)
  let length = found.write(text.slice(0, first), 'latin1')
  for (let index = first; index < text.length; length += 1) {
    const code = text.charCodeAt(index)
    if (code !== backslash) {
      found[length] = code
      index += 1
    } else if (text.charCodeAt(index + 1) === backslash) {
      found[length] = backslash
      index += 2
    } else {
      const digit = (offset: number) => text.charCodeAt(index + offset) - zero
      found[length] = digit(1) * 64 + digit(2) * 8 + digit(3)
      index += 4
    }
  }
  return found.subarray(0, length)
}
