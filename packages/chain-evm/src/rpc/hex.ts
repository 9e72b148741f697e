/** Parses hex without an ABI library; verifies no address checksums. @module */

export const zeroAddress = `0x${'0'.repeat(40)}`

/** True for `0x` and any number of hex digits. */
export function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)
}

/** True for `0x` and any number of lowercase hex digits. */
export function isLowerHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]*$/.test(value)
}

/** True for `0x` and 1 to 64 hex digits. */
export function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)
}

const lowerHash = /^0x[0-9a-f]{64}$/
const anyHash = /^0x[0-9a-fA-F]{64}$/
const lowerAddress = /^0x[0-9a-f]{40}$/
const anyAddress = /^0x[0-9a-fA-F]{40}$/

/** A 32-byte hash, lowercased, or null when the value is not one. */
export function lowercaseHash(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (lowerHash.test(value)) return value
  return anyHash.test(value) ? value.toLowerCase() : null
}

/** A 20-byte address, lowercased, or null when the value is not one. */
export function lowercaseAddress(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (lowerAddress.test(value)) return value
  return anyAddress.test(value) ? value.toLowerCase() : null
}

/** Lowercases an address argument. @throws {TypeError} When the value is not one; the message calls it `name`. */
export function parseAddress(name: string, value: unknown): `0x${string}` {
  const address = lowercaseAddress(value)
  if (address === null) throw new TypeError(`${name} is ${JSON.stringify(value)}; pass 0x and 40 hex digits.`)
  return `0x${address.slice(2)}`
}

/** A JSON-RPC quantity as a safe integer, or null when the value is not one. */
export function parseQuantity(value: unknown): number | null {
  if (!isWord(value)) return null
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : null
}

export function formatQuantity(value: number): string {
  return `0x${value.toString(16)}`
}

/** The number of whole bytes in a hex string. */
export function byteLength(hex: string): number {
  return Math.floor((hex.length - 2) / 2)
}

/** The 64 digits of the 32-byte word at byte `offset`, or null when `hex` ends before it. */
export function wordAt(hex: string, offset: number): string | null {
  const start = 2 + offset * 2
  return offset >= 0 && start + 64 <= hex.length ? hex.slice(start, start + 64) : null
}

/** The lowercased address in a 32-byte word; null when the word has another length or its upper 12 bytes are not 0. */
export function wordToAddress(word: string | null): string | null {
  return word?.length === 64 && word.startsWith('000000000000000000000000') ? `0x${word.slice(24).toLowerCase()}` : null
}

/** A word as an offset; null when it does not fit in 32 bits, which no calldata exceeds. */
export function wordToOffset(word: string | null): number | null {
  return word !== null && /^0{56}/.test(word) ? Number(`0x${word.slice(56)}`) : null
}

/** The digits of ABI bytes or text that begin with a length at byte `position`; null when they are cut off. */
export function bytesAt(hex: string, position: number): string | null {
  const length = wordToOffset(wordAt(hex, position))
  if (length === null) return null
  const start = 2 + (position + 32) * 2
  const end = start + length * 2
  return end > hex.length ? null : hex.slice(start, end)
}

/** The unsigned number in the word at byte `offset`, or null when `hex` ends before it. */
export function uintAt(hex: string, offset: number): bigint | null {
  const word = wordAt(hex, offset)
  return word === null ? null : BigInt(`0x${word}`)
}
