/** Amounts as the API has them: decimal text, exact, never a float. Source: docs/interface.md 2.1, 2.3 (last line). @module */

declare const brand: unique symbol

/**
 * An amount: digits, and perhaps a point with digits behind it; no sign, no exponent, no leading zero; 1000 characters at most. It is a plain string when the
 * program runs: print it, store it, send it. The type keeps other texts, and numbers, from taking its place.
 */
export type Amount = string & { readonly [brand]: 'Amount' }

const shape = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

/** No token has more than 78 digits, with 255 of them behind the point at most; arithmetic on much longer texts takes its time. */
const longest = 1_000

/** @throws {RangeError} When it has more than 1000 characters. */
export function checkLength(text: string): void {
  if (text.length > longest) throw new RangeError(`The amount has ${text.length} characters; ${longest} at most.`)
}

/** Whether a value is the text of an amount. */
export function isAmount(value: unknown): value is Amount {
  return typeof value === 'string' && value.length <= longest && shape.test(value)
}

/**
 * Takes a text as an amount, unchanged: `'12.50'` stays `'12.50'`.
 * @throws {TypeError} For everything else: a number, `'1,5'`, `'1e3'`, `'-1'`, `'.5'`, `'01'`. @throws {RangeError} For more than 1000 characters.
 * @example const price = parseAmount('12.50')
 */
export function parseAmount(text: string): Amount {
  if (isAmount(text)) return text
  if (typeof text === 'string') checkLength(text)
  const found = typeof text === 'string' ? 'no plain decimal' : `of type ${typeof text}`
  throw new TypeError(`The amount is ${found}; pass text such as '12.50', without sign, exponent or spaces.`)
}
