/** Parses and writes RLP. Source: Ethereum yellow paper, appendix B. @module */

export class MalformedRlpError extends Error {
  override readonly name = 'MalformedRlpError'
}

/** The bytes of an item's payload. The next item begins at `end`. */
export interface RlpItem {
  readonly isList: boolean
  readonly start: number
  readonly end: number
}

const listPrefix = 0xc0
/** A first byte at least this far above its prefix gives the number of length bytes that follow it. */
const longOffset = 56

/** Parses the item at `at`. @throws {@link MalformedRlpError} When it does not end by `limit`. */
export function parseItem(bytes: Buffer, at: number, limit: number): RlpItem {
  const first = at < limit ? (bytes[at] as number) : Number.NaN
  if (first < 0x80) return { isList: false, start: at, end: at + 1 }
  const isList = first >= listPrefix
  const offset = first - (isList ? listPrefix : 0x80)
  const lengthBytes = offset < longOffset ? 0 : offset - longOffset + 1
  const start = at + 1 + lengthBytes
  // No length of a receipt takes more than four bytes.
  if (!(start <= limit) || lengthBytes > 4) throw new MalformedRlpError('an item is cut off or too long')
  const end = start + (lengthBytes === 0 ? offset : bytes.readUIntBE(at + 1, lengthBytes))
  if (end > limit) throw new MalformedRlpError('an item is cut off or too long')
  return { isList, start, end }
}

/** Parses the items of a list. @throws {@link MalformedRlpError} */
export function parseItems(bytes: Buffer, { isList, start, end }: RlpItem): RlpItem[] {
  if (!isList) throw new MalformedRlpError('expected a list, got a string')
  const items: RlpItem[] = []
  for (let at = start; at < end; ) {
    const item = parseItem(bytes, at, end)
    items.push(item)
    at = item.end
  }
  return items
}

/** A field of a node's answer is missing, or is not hex of the expected length. */
export class UnencodableError extends Error {
  override readonly name = 'UnencodableError'
  constructor(field: string) {
    super(`${field} is missing or malformed`)
  }
}

const initialBufferBytes = 65_536
/** Value of a hex digit by character code; 255 for any other character. */
const digits = new Uint8Array(65_536).fill(255)
for (let value = 0; value < 16; value++) {
  digits[value.toString(16).charCodeAt(0)] = value
  digits[value.toString(16).toUpperCase().charCodeAt(0)] = value
}

/** Bytes of the header before a payload of `length` bytes. */
function measureHeader(length: number): number {
  if (length < 56) return 1
  if (length < 256) return 2
  if (length < 65_536) return 3
  return length < 16_777_216 ? 4 : 5
}

/** Bytes of a string or list including its header. Not for a single byte below 128, which has no header. */
export function measureItem(length: number): number {
  return measureHeader(length) + length
}

/** Counts the bytes of `0x` hex. */
export function countBytes(text: unknown, field: string): number {
  if (typeof text !== 'string' || text.length < 2 || text.length % 2 !== 0) throw new UnencodableError(field)
  return text.length / 2 - 1
}

/** Bytes of the RLP string that encodes `0x` hex. */
export function measureHex(text: unknown, field: string): number {
  const bytes = countBytes(text, field)
  return bytes === 1 && Number.parseInt(text as string, 16) < 0x80 ? 1 : measureItem(bytes)
}

/** The significant digits of a quantity, such as `1f4` of `0x01f4`; empty for 0. */
export function parseSignificantDigits(text: unknown, field: string): string {
  if (typeof text !== 'string' || text.length < 3 || text.charCodeAt(1) !== 0x78) throw new UnencodableError(field)
  let start = 2
  while (start < text.length && text.charCodeAt(start) === 0x30) start++
  return text.slice(start)
}

/** Bytes of an encoded quantity. */
export function measureQuantity(significant: string): number {
  const { length } = significant
  if (length === 0 || (length <= 2 && Number.parseInt(significant, 16) < 0x80)) return 1
  return measureItem((length + 1) >> 1)
}

/** A growing buffer, written at `at`. Callers know the lengths beforehand, so bytes are written once. */
export class RlpWriter {
  bytes: Uint8Array = new Uint8Array(initialBufferBytes)
  at = 0

  /** Grows the buffer to have room for `length` more bytes. */
  reserve(length: number): void {
    if (this.at + length <= this.bytes.length) return
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + length))
    larger.set(this.bytes.subarray(0, this.at))
    this.bytes = larger
  }

  /** Writes the header of a string (`prefix` 0x80) or of a list (0xc0). */
  writeHeader(prefix: 0x80 | 0xc0, length: number): void {
    const { bytes } = this
    if (length < 56) {
      bytes[this.at++] = prefix + length
      return
    }
    const size = measureHeader(length) - 1
    bytes[this.at++] = prefix + 55 + size
    for (let shift = (size - 1) * 8; shift >= 0; shift -= 8) bytes[this.at++] = (length >>> shift) & 255
  }

  /** Writes hex of exactly `length` bytes as a string. */
  writeItem(text: unknown, length: number, field: string): void {
    if (typeof text !== 'string' || text.length !== 2 + length * 2 || text.charCodeAt(1) !== 0x78)
      throw new UnencodableError(field)
    if (length !== 1 || Number.parseInt(text, 16) >= 0x80) this.writeHeader(0x80, length)
    this.writeDigits(text, field)
  }

  /** Writes the quantity with these significant digits. */
  writeQuantity(significant: string, field: string): void {
    const { length } = significant
    if (length === 0) {
      this.bytes[this.at++] = 0x80
      return
    }
    const padded = length % 2 === 0 ? significant : `0${significant}`
    this.writeItem(`0x${padded}`, padded.length / 2, field)
  }

  private writeDigits(text: string, field: string): void {
    const { bytes } = this
    let { at } = this
    let combined = 0
    for (let index = 2; index < text.length; index += 2) {
      const high = digits[text.charCodeAt(index)] as number
      const low = digits[text.charCodeAt(index + 1)] as number
      combined |= high | low
      bytes[at++] = (high << 4) | low
    }
    // A character that is no hex digit has the value 255.
    if (combined > 15) throw new UnencodableError(field)
    this.at = at
  }
}

/** Bytes as lowercase 0x hex. */
export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}
