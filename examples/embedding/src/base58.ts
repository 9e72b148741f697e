/** Base58 of a fixed number of bytes. @module */

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The bytes of a text. @throws RangeError When it is no base58, or of another length. */
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

/** The text of 0x hex. */
export function toBase58(hex: string): string {
  let text = ''
  for (let value = BigInt(hex); value > 0n; value /= 58n) text = `${alphabet[Number(value % 58n)]}${text}`
  return text
}
