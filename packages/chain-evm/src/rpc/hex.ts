/** Parses hex of JSON-RPC answers without an ABI library: no checksums, no allocation beyond slices. @module */

/** True for `0x` and any number of hex digits. */
export function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)
}

/** True for `0x` and any number of digits, all in lowercase. */
export function isLowerHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]*$/.test(value)
}

/** True for `0x` and the digits of a 32-byte number, at least one. */
export function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)
}

const lowerHash = /^0x[0-9a-f]{64}$/
const anyHash = /^0x[0-9a-fA-F]{64}$/
const lowerAddress = /^0x[0-9a-f]{40}$/
const anyAddress = /^0x[0-9a-fA-F]{40}$/

/** A 32-byte hash, lowercased, or null when the value is not one. */
export function toHash(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (lowerHash.test(value)) return value
  return anyHash.test(value) ? value.toLowerCase() : null
}

/** A 20-byte address, lowercased, or null when the value is not one. */
export function toAddress(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (lowerAddress.test(value)) return value
  return anyAddress.test(value) ? value.toLowerCase() : null
}

/** A JSON-RPC quantity as a safe integer, or null when the value is not one. */
export function parseQuantity(value: unknown): number | null {
  if (!isWord(value)) return null
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : null
}

/** A number as a JSON-RPC quantity. */
export function formatQuantity(value: number): string {
  return `0x${value.toString(16)}`
}

/** How many bytes a hex string holds; a half byte at the end counts as none. */
export function byteLength(hex: string): number {
  return Math.floor((hex.length - 2) / 2)
}

/** The 64 digits of the 32-byte word that starts `offset` bytes into `hex`, or null when it does not fit. */
export function wordAt(hex: string, offset: number): string | null {
  const start = 2 + offset * 2
  return offset >= 0 && start + 64 <= hex.length ? hex.slice(start, start + 64) : null
}

/** The address in a 32-byte word, lowercased, or null when it has another length or its upper 12 bytes are not zero. */
export function wordToAddress(word: string | null): string | null {
  return word?.length === 64 && word.startsWith('000000000000000000000000') ? `0x${word.slice(24).toLowerCase()}` : null
}

/** A word as a number that can index into calldata, or null when it is larger than any calldata. */
export function wordToOffset(word: string | null): number | null {
  return word !== null && /^0{56}/.test(word) ? Number(`0x${word.slice(56)}`) : null
}

/** The unsigned number in the word that starts `offset` bytes into `hex`, or null when it does not fit. */
export function uintAt(hex: string, offset: number): bigint | null {
  const word = wordAt(hex, offset)
  return word === null ? null : BigInt(`0x${word}`)
}
