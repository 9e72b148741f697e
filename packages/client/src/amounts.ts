/**
 * Amounts as exact decimal text, never a float: parse, compare, add, format. Rounds only when
 * the caller names a rounding. Source: docs/interface.md 2.1, 2.3 (last line).
 * @module
 */
import { checkInteger } from './internal/check.js'

declare const brand: unique symbol

/**
 * Plain decimal text such as `12.50`: no sign, no exponent, no leading zero, at most 1000 characters. At run time it is
 * a string: print it, store it, send it. The type rejects numbers and other texts at compile time.
 */
export type Amount = string & { readonly [brand]: 'Amount' }

const amountForm = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

/** No token has more than 78 digits, or more than 255 decimals. Arithmetic on much longer texts is slow. */
const maxLength = 1_000

/** @throws {RangeError} When the text has more than 1000 characters. */
function checkLength(text: string): void {
  if (text.length > maxLength)
    throw new RangeError(`The amount has ${text.length} characters; pass ${maxLength} at most.`)
}

/** Whether a value is an amount: `'12.50'` is one, the number `12.5` and the text `'1e3'` are not. */
export function isAmount(value: unknown): value is Amount {
  return typeof value === 'string' && value.length <= maxLength && amountForm.test(value)
}

/**
 * Parses a text as an amount. The text stays unchanged: `'12.50'` stays `'12.50'`.
 * @throws {TypeError} When `text` is not an amount: a number, `'1,5'`, `'1e3'`, `'-1'`, `'.5'`, `'01'`.
 * @throws {RangeError} When `text` has more than 1000 characters.
 * @example
 * import { addAmounts, formatAmount, parseAmount } from '@payment-integration/client/amounts'
 * const total = addAmounts(parseAmount('12.50'), parseAmount('0.995')) // '13.495'
 * formatAmount(total, { digits: 2, rounding: 'half-even' }) // '13.50'
 */
export function parseAmount(text: string): Amount {
  if (isAmount(text)) return text
  if (typeof text === 'string') checkLength(text)
  const arrived = typeof text === 'string' ? 'no plain decimal' : `of type ${typeof text}`
  throw new TypeError(`The amount is ${arrived}; pass text such as '12.50', without sign, exponent or spaces.`)
}

/** `12.50` is 1250 units with 2 decimals (`places`). */
interface Decimal {
  readonly units: bigint
  readonly places: number
}

/** Checks again at run time, as `parseAmount` does: callers without types pass anything. */
function toDecimal(amount: Amount): Decimal {
  const [whole = '', fraction = ''] = parseAmount(amount).split('.')
  return { units: BigInt(whole + fraction), places: fraction.length }
}

function scaleUnits(places: number, { units, places: ownPlaces }: Decimal): bigint {
  return units * 10n ** BigInt(places - ownPlaces)
}

/** @param units - 0 or more. @throws {RangeError} When the amount has more than 1000 characters. */
function toAmount({ units, places }: Decimal): Amount {
  const digits = String(units).padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  checkLength(text)
  return text as Amount
}

/**
 * Compares for `sort`: -1 when `a` is less, 1 when it is greater, 0 for the same value, such as `'1'` and `'1.00'`.
 * @throws {TypeError} When an argument is not an amount.
 * @throws {RangeError} When an argument has more than 1000 characters.
 * @example
 * import { compareAmounts, parseAmount } from '@payment-integration/client/amounts'
 * const sorted = ['10', '2.5'].map(parseAmount).sort(compareAmounts) // ['2.5', '10']
 */
export function compareAmounts(a: Amount, b: Amount): -1 | 0 | 1 {
  const [left, right] = [toDecimal(a), toDecimal(b)]
  const places = Math.max(left.places, right.places)
  const [leftUnits, rightUnits] = [scaleUnits(places, left), scaleUnits(places, right)]
  if (leftUnits === rightUnits) return 0
  return leftUnits < rightUnits ? -1 : 1
}

/**
 * The exact sum, with as many decimals as the argument with the most: `'1.50'` and `'1.5'` give `'3.00'`. `'0'` without
 * arguments.
 * @throws {TypeError} When an argument is not an amount.
 * @throws {RangeError} When an argument or the sum has more than 1000 characters.
 */
export function addAmounts(...amounts: readonly Amount[]): Amount {
  const decimals = amounts.map(toDecimal)
  const places = decimals.reduce((max, each) => Math.max(max, each.places), 0)
  return toAmount({ units: decimals.reduce((sum, each) => sum + scaleUnits(places, each), 0n), places })
}

/**
 * The exact difference, with as many decimals as the argument with the most: `'12.50'` less `'0.5'` is `'12.00'`.
 * @throws {RangeError} When `b` is greater: an amount has no sign.
 * @throws {TypeError} When an argument is not an amount.
 */
export function subtractAmounts(a: Amount, b: Amount): Amount {
  const [left, right] = [toDecimal(a), toDecimal(b)]
  const places = Math.max(left.places, right.places)
  const units = scaleUnits(places, left) - scaleUnits(places, right)
  if (units < 0n)
    throw new RangeError('The second amount is greater than the first, and an amount has no sign; compare them first.')
  return toAmount({ units, places })
}

/** `down` truncates, `up` rounds up, `half-up` and `half-even` round to the nearest. */
export type Rounding = 'down' | 'up' | 'half-up' | 'half-even'

/** The decimals of a formatted amount, and the rounding. */
export interface FormatOptions {
  /** Decimals, 0 to 255. @default the fewest that keep the value: `'1.50'` gives `'1.5'` */
  readonly digits?: number | undefined
  /** Rounds an amount that has more decimals than `digits`. @default none: such an amount is rejected */
  readonly rounding?: Rounding | undefined
}

const roundsUp: Readonly<Record<Rounding, (quotient: bigint, remainder: bigint, divisor: bigint) => boolean>> = {
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
 * decimals, or to the decimals of the currency.
 * @throws {RangeError} When decimals would be lost and `rounding` is absent, or when `digits` is out of range.
 * @throws {TypeError} When `amount` is not an amount, or `rounding` is unknown.
 * @example
 * import { formatAmount, parseAmount } from '@payment-integration/client/amounts'
 * formatAmount(parseAmount('12.345'), { digits: 2, rounding: 'half-even' }) // '12.34'
 */
export function formatAmount(amount: Amount, options: FormatOptions = {}): Amount {
  const { digits, rounding } = options
  const decimal = dropTrailingZeros(toDecimal(amount))
  if (rounding !== undefined && !Object.hasOwn(roundsUp, rounding))
    throw new TypeError('rounding is unknown; pass down, up, half-up or half-even.')
  if (digits === undefined) return toAmount(decimal)
  const places = checkInteger('digits', digits, 0, 255)
  if (places >= decimal.places) return toAmount({ units: scaleUnits(places, decimal), places })
  if (rounding === undefined)
    throw new RangeError(
      `The amount has ${decimal.places} decimals, more than the requested ${places}; name a rounding, or allow more.`,
    )
  return toAmount({ units: round(decimal, places, rounding), places })
}

/**
 * Converts an amount to base units of a token.
 * @param decimals - Of the token, 0 to 255.
 * @throws {RangeError} When the amount has more decimals than the token: rounding would lose money.
 * @throws {TypeError} When `amount` is not an amount.
 * @example
 * import { fromBaseUnits, parseAmount, toBaseUnits } from '@payment-integration/client/amounts'
 * fromBaseUnits(toBaseUnits(parseAmount('1.50'), 6), 6) // 1500000n, then '1.5'
 */
export function toBaseUnits(amount: Amount, decimals: number): bigint {
  const places = checkInteger('decimals', decimals, 0, 255)
  const decimal = dropTrailingZeros(toDecimal(amount))
  if (decimal.places > places)
    throw new RangeError(
      `The amount has ${decimal.places} decimals, and the token has ${places}; round it first with formatAmount.`,
    )
  return scaleUnits(places, decimal)
}

/**
 * Converts base units of a token to the shortest amount: `1_500_000n` with 6 decimals gives `'1.5'`.
 * @param decimals - Of the token, 0 to 255.
 * @throws {RangeError} When `units` is negative.
 * @throws {TypeError} When `units` is not a bigint.
 */
export function fromBaseUnits(units: bigint, decimals: number): Amount {
  if (typeof units !== 'bigint') throw new TypeError(`units is of type ${typeof units}; pass a bigint.`)
  const places = checkInteger('decimals', decimals, 0, 255)
  if (units < 0n) throw new RangeError('units is negative, and an amount has no sign; pass 0 or more.')
  return toAmount(dropTrailingZeros({ units, places }))
}

function round({ units, places }: Decimal, digits: number, rounding: Rounding): bigint {
  const divisor = 10n ** BigInt(places - digits)
  const [quotient, remainder] = [units / divisor, units % divisor]
  return roundsUp[rounding](quotient, remainder, divisor) ? quotient + 1n : quotient
}

function dropTrailingZeros({ units, places }: Decimal): Decimal {
  const digits = String(units)
  const maxZeros = units === 0n ? places : Math.min(places, digits.length)
  let zeros = 0
  // Zero has no digit to stop at. A pattern such as 0+$ takes quadratic time on a long row of zeros inside.
  while (zeros < maxZeros && (units === 0n || digits[digits.length - 1 - zeros] === '0')) zeros += 1
  return { units: units / 10n ** BigInt(zeros), places: places - zeros }
}
