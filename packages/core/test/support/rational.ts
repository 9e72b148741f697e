/**
 * The oracle of the decimal tests: big rationals, made without the code under test. A decimal with or without an
 * exponent is a numerator over a power of ten.
 */
export interface Rational {
  readonly top: bigint
  readonly bottom: bigint
}

/** Reads a decimal such as `-12.50e-3`, or returns null. */
export function getRational(text: string): Rational | null {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (parts === null) return null
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  let top = BigInt(sign === '-' ? -1 : 1) * BigInt(whole + fraction)
  let bottom = 10n ** BigInt(fraction.length)
  const power = BigInt(exponent)
  if (power >= 0n) top *= 10n ** power
  else bottom *= 10n ** -power
  return { top, bottom }
}

export const sameRational = (a: Rational, b: Rational): boolean => a.top * b.bottom === b.top * a.bottom
