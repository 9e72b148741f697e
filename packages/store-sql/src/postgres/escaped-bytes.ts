/** Parses bytes from the text of `encode(…, 'escape')`. @module */

const backslash = 0x5c
const zero = 0x30

/**
 * The bytes of a text in PostgreSQL's escape format. ASCII except NUL is unchanged, a backslash is doubled, all else is
 * `\nnn` in octal digits. Most bodies are ASCII, so their text is half as long as in hex and is copied unchanged.
 */
export function fromEscaped(text: string): Uint8Array {
  const first = text.indexOf('\\')
  if (first === -1) return Buffer.from(text, 'latin1')
  const found = Buffer.allocUnsafe(text.length)
  let length = found.write(text.slice(0, first), 'latin1')
  let index = first
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code !== backslash) {
      found[length] = code
      index += 1
    } else if (text.charCodeAt(index + 1) === backslash) {
      found[length] = backslash
      index += 2
    } else {
      found[length] = octalAt(text, index + 1)
      index += 4
    }
    length += 1
  }
  return found.subarray(0, length)
}

/** Outside the loop: a closure over the index would allocate for every character. */
function octalAt(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 64 + (text.charCodeAt(at + 1) - zero) * 8 + text.charCodeAt(at + 2) - zero
}
