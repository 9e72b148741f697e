/** An amount as whole numbers: digits without their point, and how many of them stand behind it. @module */
import { type Amount, checkLength, parseAmount } from './amount.js'

/** `12.50` is 1250 units with 2 places. */
export interface Decimal {
  readonly units: bigint
  readonly places: number
}

/** @throws {TypeError} When it is no amount, whatever its type says. @throws {RangeError} When it is too long for one. */
export function toDecimal(amount: Amount): Decimal {
  const [whole = '', fraction = ''] = parseAmount(amount).split('.')
  return { units: BigInt(whole + fraction), places: fraction.length }
}

/** The same value with more places. */
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
