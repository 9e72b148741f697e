/** Base units to decimal strings, exactly. Source: DESIGN section 3 (amounts). @module */

/**
 * Writes an amount of base units as a decimal string in token units, without trailing zeros.
 * @param value - Base units, 0 or more.
 * @param decimals - 0 to 255.
 * @example formatUnits(10_038_880n, 6) // '10.03888'
 */
export function formatUnits(value: bigint, decimals: number): string {
  if (value < 0n) throw new RangeError('An amount is 0 or more.')
  if (decimals === 0) return value.toString()
  const digits = value.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
