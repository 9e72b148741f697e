/**
 * Walks JSON in the bytes of an answer, without making objects of it.
 *
 * A place is an index into the bytes; -1 stands for "not as expected", and whoever gets it leaves the text to `JSON.parse`. Nothing here
 * decides whether JSON is valid: what is taken from it is held against a hash, or checked as the same value of a parsed answer is.
 * @module
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Where a value that is read for itself ends, and what it is. */
export interface ReadResult {
  readonly value: unknown
  /** Behind its last byte. */
  readonly end: number
}

/** Reads the JSON value at a place by itself; null to leave it to `JSON.parse`. It keeps none of the bytes. */
export type ResultReader = (bytes: Buffer, at: number) => ReadResult | null

/** Takes the value of a field; answers the place behind it, or -1. */
export type FieldReader = (keyAt: number, keyLength: number, at: number) => number

/** The first place from `at` on that is no white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let place = at
  while ((bytes[place] as number) <= 0x20) place++
  return place
}

/** The place of the quote that ends the string whose first character is at `at`. */
export function endOfString(bytes: Uint8Array, at: number): number {
  let place = at
  for (let byte = bytes[place]; byte !== quote; byte = bytes[++place]) {
    if (byte === undefined) return -1
    if (byte === backslash) place++
  }
  return place
}

/** The place behind the value at `at`, or -1 when the bytes end before it does. */
export function skipValue(bytes: Uint8Array, at: number): number {
  let place = at
  let depth = 0
  for (;;) {
    const byte = bytes[place]
    if (byte === undefined) return -1
    if (byte === quote) {
      place = endOfString(bytes, place + 1)
      if (place === -1) return -1
      place++
    } else if (byte === openObject || byte === openList) {
      depth++
      place++
      continue
    } else if (byte === closeObject || byte === closeList) {
      depth--
      place++
    } else if (depth > 0) {
      place++
      continue
    } else {
      place = endOfScalar(bytes, place)
    }
    if (depth <= 0) return depth === 0 && place > at ? place : -1
  }
}

/** The place behind a number or a word. */
function endOfScalar(bytes: Uint8Array, at: number): number {
  let place = at
  for (let byte = bytes[place]; byte !== undefined; byte = bytes[++place])
    if (byte <= 0x20 || byte === comma || byte === closeList || byte === closeObject) break
  return place
}

/** Parses the JSON value at `at` by itself; null when it is none. */
export function parseAt(bytes: Buffer, at: number): ReadResult | null {
  const end = skipValue(bytes, at)
  if (end === -1) return null
  try {
    return { value: JSON.parse(bytes.toString('utf8', at, end)) as unknown, end }
  } catch {
    return null
  }
}

/**
 * Walks the fields of the object at `at`.
 * @param field - Is given where each key is, between its quotes, and where its value begins.
 * @returns The place behind the object, or -1.
 */
export function walkObject(bytes: Uint8Array, at: number, field: FieldReader): number {
  if (bytes[at] !== openObject) return -1
  let place = skipSpace(bytes, at + 1)
  if (bytes[place] === closeObject) return place + 1
  for (;;) {
    if (bytes[place] !== quote) return -1
    const keyAt = place + 1
    const keyEnd = endOfString(bytes, keyAt)
    if (keyEnd === -1) return -1
    place = skipSpace(bytes, keyEnd + 1)
    if (bytes[place] !== colon) return -1
    place = field(keyAt, keyEnd - keyAt, skipSpace(bytes, place + 1))
    if (place === -1) return -1
    place = skipSpace(bytes, place)
    if (bytes[place] === closeObject) return place + 1
    if (bytes[place] !== comma) return -1
    place = skipSpace(bytes, place + 1)
  }
}

/**
 * Walks the items of the list at `at`.
 * @param item - Is given where each item begins, and answers the place behind it, or -1.
 * @returns The place behind the list, or -1.
 */
export function walkList(bytes: Uint8Array, at: number, item: (at: number) => number): number {
  if (bytes[at] !== openList) return -1
  let place = skipSpace(bytes, at + 1)
  if (bytes[place] === closeList) return place + 1
  for (;;) {
    place = item(place)
    if (place === -1) return -1
    place = skipSpace(bytes, place)
    if (bytes[place] === closeList) return place + 1
    if (bytes[place] !== comma) return -1
    place = skipSpace(bytes, place + 1)
  }
}

/** Whether the key at a place is `name`. */
export function isKey(bytes: Uint8Array, at: number, length: number, name: string): boolean {
  if (length !== name.length) return false
  for (let index = 0; index < length; index++) if (bytes[at + index] !== name.charCodeAt(index)) return false
  return true
}

/** Whether the string at a place, which begins with its quote, is exactly `text`. */
export function isText(bytes: Uint8Array, at: number, text: string): boolean {
  return bytes[at] === quote && isKey(bytes, at + 1, text.length, text) && bytes[at + 1 + text.length] === quote
}

/** The place behind `0x` of the string of hex that begins at a place with its quote, or -1. */
export function hexAt(bytes: Uint8Array, at: number): number {
  return bytes[at] === quote && bytes[at + 1] === 0x30 && bytes[at + 2] === 0x78 ? at + 3 : -1
}

/** The characters of the string that begins at a place with its quote, as they are written there; null for anything else. */
export function textAt(bytes: Buffer, at: number): string | null {
  const end = bytes[at] === quote ? endOfString(bytes, at + 1) : -1
  return end === -1 ? null : bytes.toString('latin1', at + 1, end)
}
