/** Numbers that a seed decides, for the demo's amounts and choices. Not for secrets. @module */

/** Yields numbers in [0, 1). */
export type Fraction = () => number

/** A repeatable sequence (mulberry32): the same seed gives the same numbers on every machine. */
export function seededFraction(seed: number): Fraction {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
