/**
 * Recursive length prefix, without product code, because it judges the product. Source: Ethereum yellow paper, appendix
 * B.
 * @module
 */

/** Bytes, or a list of such. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Encodes an item. */
export function encodeRlp(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) {
    const [only = 0x80] = item
    return item.length === 1 && only < 0x80 ? item : joined([prefix(0x80, item.length), item])
  }
  return encodeRlpList(item.map(encodeRlp))
}

/** Encodes a list of encoded items. */
export function encodeRlpList(encoded: readonly Uint8Array[]): Uint8Array {
  const length = encoded.reduce((sum, { length: size }) => sum + size, 0)
  return joined([prefix(0xc0, length), ...encoded])
}

/** A whole number without leading zeros; 0 is no bytes. */
export function wholeBytes(value: number | bigint): Uint8Array {
  if (value === 0 || value === 0n) return new Uint8Array(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/** The bytes of 0x hex. */
export function hexBytes(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}

function prefix(base: number, length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length)
  const size = wholeBytes(length)
  return joined([Uint8Array.of(base + 55 + size.length), size])
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}
