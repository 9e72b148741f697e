/** Repeatable randomness for tests: the seed is part of the test's name. @module */

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A seed for one run: that of the environment variable `CONFORMANCE_SEED`, or a new one. */
export function runSeed(): number {
  const given = Number(process.env['CONFORMANCE_SEED'])
  return Number.isSafeInteger(given) && given > 0 ? given : Math.floor(Math.random() * 1_000_000) + 1
}
