/** The amount type: exact decimal text, never a float. Source: docs/interface.md 2.1, 2.3 (last line). @module */

declare const brand: unique symbol

/**
 * Plain decimal text such as `12.50`: no sign, no exponent, no leading zero, at most 1000 characters. At run time it is
 * a string: print it, store it, send it. The type rejects numbers and other texts at compile time.
 */
export type Amount = string & { readonly [brand]: 'Amount' }

const shape = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

/** No token has more than 78 digits, or more than 255 decimals. Arithmetic on much longer texts is slow. */
const maxLength = 1_000

/** @throws {RangeError} When the text has more than 1000 characters. */
export function checkLength(text: string): void {
  if (text.length > maxLength) throw new RangeError(`The amount has ${text.length} characters; ${maxLength} at most.`)
}

/** Whether a value is an amount. */
export function isAmount(value: unknown): value is Amount {
  return typeof value === 'string' && value.length <= maxLength && shape.test(value)
}

/**
 * Parses a text as an amount. The text stays unchanged: `'12.50'` stays `'12.50'`.
 * @throws {TypeError} For everything else: a number, `'1,5'`, `'1e3'`, `'-1'`, `'.5'`, `'01'`.
 * @throws {RangeError} For more than 1000 characters.
 * @example const price = parseAmount('12.50')
 */
export function parseAmount(text: string): Amount {
  if (isAmount(text)) return text
  if (typeof text === 'string') checkLength(text)
  const found = typeof text === 'string' ? 'no plain decimal' : `of type ${typeof text}`
  throw new TypeError(`The amount is ${found}; pass text such as '12.50', without sign, exponent or spaces.`)
}
