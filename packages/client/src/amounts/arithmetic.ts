/** Compares, adds and subtracts amounts exactly. Source: docs/interface.md 2.3 (last line). @module */
import type { Amount } from './amount.js'
import { toAmount, toDecimal, unitsAt } from './decimal.js'

/**
 * -1 when `a` is less, 1 when it is greater, 0 when both have the same value, such as `'1'` and `'1.00'`. Fits `sort`.
 * @throws {TypeError} When an argument is not an amount.
 * @throws {RangeError} When an argument has more than 1000 characters.
 */
export function compareAmounts(a: Amount, b: Amount): -1 | 0 | 1 {
  const [left, right] = [toDecimal(a), toDecimal(b)]
  const places = Math.max(left.places, right.places)
  const [x, y] = [unitsAt(places, left), unitsAt(places, right)]
  if (x === y) return 0
  return x < y ? -1 : 1
}

/**
 * The exact sum; `'0'` without arguments. It has as many decimals as the longest summand: `'1.50'` and `'1.5'` give
 * `'3.00'`.
 * @throws {TypeError} When an argument is not an amount.
 * @throws {RangeError} When an argument or the sum has more than 1000 characters.
 */
export function addAmounts(...amounts: readonly Amount[]): Amount {
  const decimals = amounts.map(toDecimal)
  const places = decimals.reduce((most, each) => Math.max(most, each.places), 0)
  return toAmount({ units: decimals.reduce((sum, each) => sum + unitsAt(places, each), 0n), places })
}

/**
 * The exact difference, with the decimals of the longer amount.
 * @throws {RangeError} When `b` is greater: an amount has no sign.
 * @throws {TypeError} When an argument is not an amount.
 */
export function subtractAmounts(a: Amount, b: Amount): Amount {
  const [left, right] = [toDecimal(a), toDecimal(b)]
  const places = Math.max(left.places, right.places)
  const units = unitsAt(places, left) - unitsAt(places, right)
  if (units < 0n)
    throw new RangeError('The second amount is greater than the first, and an amount has no sign; compare them first.')
  return toAmount({ units, places })
}
