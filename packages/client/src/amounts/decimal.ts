/** An amount as integers: its digits without the point, and its number of decimals. @module */
import { type Amount, checkLength, parseAmount } from './amount.js'

/** `12.50` is 1250 units with 2 decimals (`places`). */
export interface Decimal {
  readonly units: bigint
  readonly places: number
}

/**
 * Checks again at run time: callers without types pass anything.
 * @throws {TypeError} When it is not an amount.
 * @throws {RangeError} When it has more than 1000 characters.
 */
export function toDecimal(amount: Amount): Decimal {
  const [whole = '', fraction = ''] = parseAmount(amount).split('.')
  return { units: BigInt(whole + fraction), places: fraction.length }
}

/** The units of the same value with more decimals. */
export function unitsAt(places: number, { units, places: own }: Decimal): bigint {
  return units * 10n ** BigInt(places - own)
}

/** @param units - 0 or more. @throws {RangeError} When the amount has more than 1000 characters. */
export function toAmount({ units, places }: Decimal): Amount {
  const digits = String(units).padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  checkLength(text)
  return text as Amount
}
