/** Formats amounts with a given number of decimals. Rounds only when the caller names a rounding. @module */
import { checkInteger } from '../internal/check.js'
import type { Amount } from './amount.js'
import { type Decimal, toAmount, toDecimal, unitsAt } from './decimal.js'

/** `down` truncates, `up` rounds up, `half-up` and `half-even` round to the nearest. */
export type Rounding = 'down' | 'up' | 'half-up' | 'half-even'

/** Options of `formatAmount`. */
export interface FormatOptions {
  /** Decimals, 0 to 255. @default the fewest that keep the value: `'1.50'` gives `'1.5'` */
  readonly digits?: number | undefined
  /** Rounds an amount that has more decimals than `digits`. @default none: such an amount is rejected */
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
 * Formats an amount with `digits` decimals. For thousands separators and currency signs, pass the result to
 * `Intl.NumberFormat`, which takes text exactly. Set its `maximumFractionDigits`, because its default rounds to 3
 * decimals, or to those of the currency.
 * @throws {RangeError} When decimals would be lost and `rounding` is absent, or when `digits` is out of range.
 * @throws {TypeError} When it is not an amount, or `rounding` is unknown.
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
      `The amount has ${decimal.places} digits behind the point, more than the requested ${places}; name a rounding, or allow more.`,
    )
  return toAmount({ units: round(decimal, places, rounding), places })
}

/**
 * Converts an amount to base units of a token: `'1.5'` of a token with 6 decimals is `1500000n`.
 * @param decimals - Of the token, 0 to 255.
 * @throws {RangeError} When the amount has more decimals than the token: rounding would lose money.
 * @throws {TypeError} When it is not an amount.
 */
export function toBaseUnits(amount: Amount, decimals: number): bigint {
  const places = checkInteger('decimals', decimals, 0, 255)
  const decimal = shortest(toDecimal(amount))
  if (decimal.places > places)
    throw new RangeError(`The amount has ${decimal.places} digits behind the point, and the token has ${places}.`)
  return unitsAt(places, decimal)
}

/**
 * Converts base units of a token to the shortest amount: `1500000n` of a token with 6 decimals is `'1.5'`.
 * @param decimals - Of the token, 0 to 255.
 * @throws {RangeError} When `units` is negative.
 * @throws {TypeError} When `units` is not a bigint.
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

/** Removes trailing zeros. */
function shortest({ units, places }: Decimal): Decimal {
  const digits = String(units)
  const most = units === 0n ? places : Math.min(places, digits.length)
  let zeros = 0
  // Zero has no digit to stop at. A pattern such as 0+$ takes quadratic time on a long row of zeros inside.
  while (zeros < most && (units === 0n || digits[digits.length - 1 - zeros] === '0')) zeros += 1
  return { units: units / 10n ** BigInt(zeros), places: places - zeros }
}
