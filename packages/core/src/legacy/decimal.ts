/**
 * Compares decimals as text, exactly and without floating point. Source: docs/interface.md 4.3 (`invoiceAmount`).
 * @module
 */

import { verifyRequestLimits } from '@payment-integration/contract'

/** Longest text of an amount, also of one that was sent as a number. */
export const maxDecimalLength = verifyRequestLimits.invoiceAmount

const plain = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const numberToken = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/**
 * Whether `text` is a plain decimal such as `12.50`: no sign, exponent, space or leading zero, at most 100 characters.
 */
export function isPlainDecimal(text: string): boolean {
  return text.length <= maxDecimalLength && plain.test(text)
}

/** The shortest text of a plain decimal: equal decimals have equal text. */
export function shortestDecimal(text: string): string {
  if (!text.includes('.')) return text
  const short = withoutLastZeros(text)
  return short.endsWith('.') ? short.slice(0, -1) : short
}

/** Whether two plain decimals are the same number, as `1.0` and `1` are. */
export function sameDecimal(a: string, b: string): boolean {
  return shortestDecimal(a) === shortestDecimal(b)
}

/**
 * Formats a JSON number exactly, without exponent and in the shortest form.
 * @returns Null when it has a sign, is no JSON number, or takes more than 100 characters.
 * @example writeOut('1.5e-3') // '0.0015'
 */
export function writeOut(token: string): string | null {
  const [, whole, fraction = '', exponent = '0'] = numberToken.exec(token) ?? []
  if (whole === undefined) return null
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  if (digits === '') return '0'
  const significant = withoutLastZeros(digits)
  // Distance of the last significant digit to the left of the point; negative: to the right.
  const shift = Number(exponent) - fraction.length + (digits.length - significant.length)
  // Below 1 there is a zero before the point.
  const length = shift >= 0 ? significant.length + shift : Math.max(significant.length, 1 - shift) + 1
  if (length > maxDecimalLength) return null
  if (shift >= 0) return significant + '0'.repeat(shift)
  const padded = significant.padStart(1 - shift, '0')
  return `${padded.slice(0, shift)}.${padded.slice(shift)}`
}

/**
 * Parses a JSON number that a usual JSON parser reads exactly: the shortest form of its double is the same decimal.
 * `9007199254740993` is rejected: such a parser would read `9007199254740992`.
 *
 * @returns The decimal, or null.
 */
export function readNumberToken(token: string): string | null {
  const exact = writeOut(token)
  return exact !== null && exact === writeOut(String(Number(token))) ? exact : null
}

/** A loop: a pattern would take quadratic time on a run of zeros. */
function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}
