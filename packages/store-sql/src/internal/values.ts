/** Validates arguments, and converts values between rows and objects without loss. @module */
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '@payment-integration/core'
import type { Integer } from '../schema/migration.js'

/** @throws TypeError When the id is malformed. */
export function parseId(id: string, name: string): number {
  if (/^[0-9]{1,15}$/.test(id)) return Number(id)
  throw new TypeError(`${name} is ${JSON.stringify(id)}; pass an id that this store returned.`)
}

/** @throws RangeError When the number is not whole, or out of bounds. */
export function checkInteger(value: number, name: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw new RangeError(`${name} is ${value}; pass a whole number from ${min} to ${max}.`)
}

/** The most cached texts, such as symbols and prices of frequent tokens. */
const maxTexts = 1_000

/** Caches the results of `make`, which callers must not change. */
export function memoize<Made>(make: (text: string) => Made): (text: string) => Made {
  const cache = new Map<string, Made>()
  return (text) => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    const made = make(text)
    if (cache.size >= maxTexts) cache.clear()
    cache.set(text, made)
    return made
  }
}

/** Whether a text is `0x` and pairs of lowercase hex digits. */
export const isHex = (text: string): boolean => /^0x(?:[0-9a-f]{2})*$/.test(text)

/** The digits of `0x` text. @throws TypeError For any other text: otherwise several texts would name the same bytes. */
export function parseHexDigits(text: string): string {
  if (isHex(text)) return text.slice(2)
  throw new TypeError(`${JSON.stringify(text.slice(0, 100))} is not 0x and pairs of lowercase hex digits.`)
}

export const parseHex = (text: string): Uint8Array => Buffer.from(parseHexDigits(text), 'hex')

/** The bytes of a key to search for. For text that {@link isHex} rejects they are empty, so that nothing matches. */
export const parseKey = (text: string): Uint8Array => parseHex(isHex(text) ? text : '0x')

/** Bytes that a statement returned, as `0x` text; PostgreSQL may return them as text with `\x`. */
export function toHex(read: Uint8Array | string): string {
  if (typeof read === 'string') {
    if (!read.startsWith('\\x')) throw new TypeError('PostgreSQL returned no hex digits; set its bytea_output to hex.')
    return `0x${read.slice(2)}`
  }
  return `0x${Buffer.from(read.buffer, read.byteOffset, read.byteLength).toString('hex')}`
}

export const toNullableHex = (read: Uint8Array | string | null): string | null => (read === null ? null : toHex(read))

export function toNumber(value: Integer): number {
  const number = typeof value === 'number' ? value : Number(value)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`A stored integer is ${value}, which no number represents exactly.`)
  return number
}

export function toNullableNumber(value: Integer | null): number | null {
  return value === null ? null : toNumber(value)
}

/** A value as JSON text, which both databases store even for U+0000 and lone surrogates. */
export function pack(value: object | string): string
export function pack(value: object | string | null): string | null
export function pack(value: object | string | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

type Reviver = (key: string, value: unknown) => unknown

export function unpack<T>(text: string, revive?: Reviver): T
export function unpack<T>(text: string | null): T | null
export function unpack<T>(text: string | null, revive?: Reviver): T | null {
  return text === null ? null : (JSON.parse(text, revive) as T)
}

/** A plain Uint8Array instead of the Buffer of `pg`, which compares and prints differently. */
export function toPlainBytes(value: Uint8Array): Uint8Array {
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

/** The column names of a statement, and the values of each row in that order. */
export interface RawRows {
  readonly columns: readonly string[]
  readonly values: readonly (readonly unknown[])[]
}

/**
 * A row with a getter per column: copying the 30 columns of each row would cost more than the rest of the read. It has
 * no own properties, so it must not be spread.
 */
export function createRowView(names: readonly string[]): (values: readonly unknown[]) => object {
  const key = names.join()
  const view = views.get(key) ?? makeView(names)
  views.set(key, view)
  return view
}

// Statements with the same columns share a view: code that reads several row types is several times slower.
const views = new Map<string, (values: readonly unknown[]) => object>()

function makeView(names: readonly string[]): (values: readonly unknown[]) => object {
  class Row {
    readonly #values: readonly unknown[]
    constructor(values: readonly unknown[]) {
      this.#values = values
    }
    static read(row: Row, index: number): unknown {
      return row.#values[index]
    }
  }
  for (const [index, name] of names.entries())
    Object.defineProperty(Row.prototype, name, {
      get(this: Row) {
        return Row.read(this, index)
      },
    })
  return (values) => new Row(values)
}

export function createClosedError(): StoreError {
  return new StoreError('ERR_STORE_UNAVAILABLE', 'This store was closed; create another one.')
}

/** How long a transaction waits for locks, in milliseconds; other statements queue behind it. */
export const lockMs = 1_000
/** The pause before the next attempt, so that the queue drains. */
const pauseMs = 2_000
/** The most attempts, which take about half an hour. */
const maxAttempts = 600

/** Runs `work` again when a lock, a connection or a conflict prevented it. `onWait` is called before each pause. */
export async function whileBusy<T>(work: () => Promise<T>, onWait: () => void = () => undefined): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'ERR_STORE_BUSY') || attempt === maxAttempts) throw error
      onWait()
      await delay(pauseMs)
    }
}
