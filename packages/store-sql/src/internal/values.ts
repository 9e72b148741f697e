/** Converts values between rows and objects, exactly. @module */
import type { Integer } from '../schema/integer.js'

/** An integer column as a number. */
export function integer(value: Integer): number {
  const number = typeof value === 'number' ? value : Number(value)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`A stored integer is ${value}, which no number represents exactly.`)
  return number
}

/** A nullable integer column as a number. */
export function nullableInteger(value: Integer | null): number | null {
  return value === null ? null : integer(value)
}

/** Any value as JSON text: for every string, U+0000 and lone surrogates included, on both databases. */
export function pack(value: object | string): string
export function pack(value: object | string | null): string | null
export function pack(value: object | string | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

/** The value of a text of {@link pack}. */
export function unpack<T>(text: string): T
export function unpack<T>(text: string | null): T | null
export function unpack<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}

/** Bytes as a plain Uint8Array: `pg` returns a Buffer, which compares and prints differently. */
export function bytes(value: Uint8Array): Uint8Array {
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}
