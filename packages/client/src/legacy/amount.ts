/** Formats the invoice amount of a request. Source: docs/interface.md 2.3 (last line), 4.3. @module */
import { primitives, verifyRequestLimits } from '@payment-integration/contract'

/**
 * Plain decimal text for an amount: no sign, no exponent. Text stays unchanged. A number becomes the shortest decimal
 * that parses to the same number: `0.1` gives `0.1`, `1e-7` gives `0.0000001`.
 * @throws {TypeError} For a text that is not a plain decimal, and for other types.
 * @throws {RangeError} For a number that is negative, `-0`, `NaN` or infinite, and for more than 100 characters.
 */
export function plainAmount(value: unknown): string {
  const amount = typeof value === 'number' ? formatPlain(value) : checkPlain(value)
  const { length } = amount
  if (length > verifyRequestLimits.invoiceAmount)
    throw new RangeError(
      `invoiceAmount has ${length} characters without an exponent; pass ${verifyRequestLimits.invoiceAmount} at most.`,
    )
  return amount
}

function checkPlain(value: unknown): string {
  if (typeof value !== 'string')
    throw new TypeError(`invoiceAmount is of type ${typeof value}; pass a decimal as text, or a number.`)
  if (!primitives.amount.safeParse(value).success)
    throw new TypeError(
      "invoiceAmount is no plain decimal; pass text such as '12.50', without sign, exponent or spaces.",
    )
  return value
}

function formatPlain(value: number): string {
  if (!Number.isFinite(value) || value < 0 || Object.is(value, -0))
    throw new RangeError(`invoiceAmount is ${Object.is(value, -0) ? '-0' : value}; pass a finite number, 0 or more.`)
  const [mantissa = '', exponent] = String(value).split('e')
  if (exponent === undefined) return mantissa
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  const pointAt = whole.length + Number(exponent)
  // String() uses an exponent only below 1e-6 and from 1e21 on. There the missing digits are all zeros.
  return pointAt > 0 ? digits.padEnd(pointAt, '0') : `0.${'0'.repeat(-pointAt)}${digits}`
}
