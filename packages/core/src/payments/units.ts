/** Formats base units as decimal strings, exactly. Source: docs/decisions/amounts.md. @module */

/**
 * Formats an amount of base units as a decimal string in token units, without trailing zeros.
 * @param value - Base units, 0 or more.
 * @param decimals - 0 to 255.
 * @example formatUnits(10_038_880n, 6) // '10.03888'
 */
export function formatUnits(value: bigint, decimals: number): string {
  if (value < 0n) throw new RangeError('An amount is 0 or more.')
  return placePoint(value.toString(), decimals)
}

/**
 * The same from the digits of the base units.
 * @param digits - Decimal digits without a leading zero, or `0`.
 */
export function placePoint(digits: string, decimals: number): string {
  if (decimals === 0 || digits === '0') return digits
  let end = digits.length
  // A regular expression for the zeros would cost more than the rest.
  for (let zeros = 0; zeros < decimals && digits.charCodeAt(end - 1) === zero; zeros += 1) end -= 1
  const point = digits.length - decimals
  if (point > 0) return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
  return `0.${'0'.repeat(-point)}${digits.slice(0, end)}`
}

const zero = 0x30
