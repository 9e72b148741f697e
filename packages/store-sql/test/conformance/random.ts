/** Repeatable randomness for tests: the seed is part of the test's name. @module */
import { seededRandom } from '../../../core/test/support/seeded-random.js'

/** Numbers in [0, 1) from a seed. */
export const seeded = (seed: number): (() => number) => seededRandom(seed).fraction

/** A seed for one run: that of the environment variable `CONFORMANCE_SEED`, or a new one. */
export function runSeed(): number {
  const given = Number(process.env['CONFORMANCE_SEED'])
  return Number.isSafeInteger(given) && given > 0 ? given : Math.floor(Math.random() * 1_000_000) + 1
}
