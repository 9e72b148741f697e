/** Base58 of a fixed number of bytes. @module */

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Parses base58 into `length` bytes, padded with zeros in front. @throws RangeError When it is malformed or longer. */
export function fromBase58(text: string, length: number): Buffer {
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit === -1) throw new RangeError(`${JSON.stringify(text)} is no base58.`)
    value = value * 58n + BigInt(digit)
  }
  const hex = value.toString(16).padStart(length * 2, '0')
  if (hex.length > length * 2) throw new RangeError(`${JSON.stringify(text)} is longer than ${length} bytes.`)
  return Buffer.from(hex, 'hex')
}

/** Formats 0x hex as base58. */
export function toBase58(hex: string): string {
  let text = ''
  for (let value = BigInt(hex); value > 0n; value /= 58n) text = `${alphabet[Number(value % 58n)]}${text}`
  return text
}
