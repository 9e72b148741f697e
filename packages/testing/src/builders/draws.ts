/** Draws pseudo-random numbers, the same for the same seed. @module */

/** Draws of one seed. */
export interface Draws {
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number
  /** One of the list. */
  pick<const List extends readonly [unknown, ...unknown[]]>(list: List): List[number]
  /** `0x` and the given number of bytes as lowercase hex digits. */
  hex(bytes: number): string
}

/**
 * Makes the draws of a seed.
 * @throws {RangeError} When the seed is not a whole number from 0 to 2^32 - 1.
 */
export function createDraws(seed: number): Draws {
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffff_ffff)
    throw new RangeError(`seed is ${seed}; pass a whole number from 0 to 4294967295.`)
  let state = seed
  /** SplitMix32: even neighbouring seeds give different sequences. */
  const next = () => {
    state = (state + 0x9e37_79b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0_aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  const whole = (least: number, most: number) => least + (next() % (most - least + 1))
  return {
    whole,
    pick: (list) => list[whole(0, list.length - 1)] ?? list[0],
    hex: (bytes) => `0x${Array.from({ length: bytes }, () => whole(0, 255).toString(16).padStart(2, '0')).join('')}`,
  }
}
