/** Computes the wait of a loop after failures in a row. @module */

/** The wait after the first failure in a row, in milliseconds, before jitter. */
export const backoffBaseMs = 250

/** The longest wait between two rounds, in milliseconds. */
export const backoffCapMs = 30_000

/**
 * Doubles with every failure up to {@link backoffCapMs}, then takes between half and all of it, so that loops that
 * failed together do not retry together.
 *
 * @param failures - Failures in a row, from 1.
 *
 * @param fraction - Randomness in [0, 1].
 *
 * @returns Whole milliseconds.
 */
export function backoffMs(failures: number, fraction: number): number {
  const ceiling = Math.min(backoffCapMs, backoffBaseMs * 2 ** (failures - 1))
  return Math.round(ceiling * (0.5 + fraction / 2))
}
