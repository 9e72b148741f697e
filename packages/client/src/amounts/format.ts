/** Amounts with a number of digits behind the point. Nothing is rounded unless a way to round is named. @module */
import { checkInteger } from '../internal/check.js'
import type { Amount } from './amount.js'
import { type Decimal, toAmount, toDecimal, unitsAt } from './decimal.js'

/** `down` cuts off, `up` rounds everything up; the other two go to the nearest, and from the middle up, or to the even digit. */
export type Rounding = 'down' | 'up' | 'half-up' | 'half-even'

/** How to write an amount. */
export interface FormatOptions {
  /** Digits behind the point, 0 to 255. As few as hold the value when absent: `'1.50'` is `'1.5'`. */
  readonly digits?: number | undefined
  /** What to do with an amount that has more digits than that. Refused when absent. */
  readonly rounding?: Rounding | undefined
}

const roundings: Readonly<Record<Rounding, (quotient: bigint, remainder: bigint, divisor: bigint) => boolean>> = {
  down: () => false,
  up: (_, remainder) => remainder > 0n,
  'half-up': (_, remainder, divisor) => remainder * 2n >= divisor,
  'half-even': (quotient, remainder, divisor) => {
    const twice = remainder * 2n
    return twice > divisor || (twice === divisor && quotient % 2n === 1n)
  },
}

/**
 * Writes an amount with so many digits behind the point. For thousands separators and currency signs, hand the result to
 * `Intl.NumberFormat`, which takes text exactly, and set its `maximumFractionDigits`: without it, it rounds to 3 digits, or to those of its currency.
 * @throws {RangeError} When digits would be lost and no `rounding` is named, and for a number of digits out of range.
 * @throws {TypeError} When it is no amount, or `rounding` is unknown.
 * @example formatAmount(parseAmount('12.345'), { digits: 2, rounding: 'half-even' }) // '12.34'
 */
export function formatAmount(amount: Amount, options: FormatOptions = {}): Amount {
  const { digits, rounding } = options
  const decimal = shortest(toDecimal(amount))
  if (rounding !== undefined && !Object.hasOwn(roundings, rounding))
    throw new TypeError('rounding is unknown; pass down, up, half-up or half-even.')
  if (digits === undefined) return toAmount(decimal)
  const places = checkInteger('digits', digits, 0, 255)
  if (places >= decimal.places) return toAmount({ units: unitsAt(places, decimal), places })
  if (rounding === undefined)
    throw new RangeError(
      `The amount has ${decimal.places} digits behind the point, and ${places} were asked for; name a rounding, or allow more.`,
    )
  return toAmount({ units: round(decimal, places, rounding), places })
}

/**
 * Counts an amount in base units, as tokens are counted on a chain: `'1.5'` of a token with 6 decimals is `1500000n`.
 * @param decimals - Of the token, 0 to 255.
 * @throws {RangeError} When the amount has more digits than the token can hold: what is lost would be money. @throws {TypeError} When it is no amount.
 */
export function toBaseUnits(amount: Amount, decimals: number): bigint {
  const places = checkInteger('decimals', decimals, 0, 255)
  const decimal = shortest(toDecimal(amount))
  if (decimal.places > places)
    throw new RangeError(`The amount has ${decimal.places} digits behind the point, and the token has ${places}.`)
  return unitsAt(places, decimal)
}

/**
 * The amount of so many base units, in its shortest form: `1500000n` of a token with 6 decimals is `'1.5'`.
 * @param decimals - Of the token, 0 to 255.
 * @throws {RangeError} When `units` is negative. @throws {TypeError} When it is no bigint.
 */
export function fromBaseUnits(units: bigint, decimals: number): Amount {
  if (typeof units !== 'bigint') throw new TypeError(`units is of type ${typeof units}; pass a bigint.`)
  const places = checkInteger('decimals', decimals, 0, 255)
  if (units < 0n) throw new RangeError('units is negative, and an amount has no sign; pass 0 or more.')
  return toAmount(shortest({ units, places }))
}

function round({ units, places }: Decimal, to: number, rounding: Rounding): bigint {
  const divisor = 10n ** BigInt(places - to)
  const [quotient, remainder] = [units / divisor, units % divisor]
  return roundings[rounding](quotient, remainder, divisor) ? quotient + 1n : quotient
}

/** Without zeros at its end. */
function shortest({ units, places }: Decimal): Decimal {
  const digits = String(units)
  const most = units === 0n ? places : Math.min(places, digits.length)
  let zeros = 0
  // Of nothing, every place is a zero. A pattern such as 0+$ would begin anew at each zero inside.
  while (zeros < most && (units === 0n || digits[digits.length - 1 - zeros] === '0')) zeros += 1
  return { units: units / 10n ** BigInt(zeros), places: places - zeros }
}
