/** Registers tests of the simulator: seeds on SQLite with fsync and deliveries, and seeds without either. @module */
import { describe, expect, test } from 'vitest'
import { describeSeed, runSeeds } from './run.js'

/** Seeds to run, counted from seed 1. */
export interface SeedCounts {
  readonly quick: { readonly count: number; readonly perTest: number }
  readonly sqlite: number
}

export function testSeeds({ quick: { count, perTest }, sqlite }: SeedCounts): void {
  const firsts = Array.from({ length: Math.ceil(count / perTest) }, (_, index) => 1 + index * perTest)

  describe('after faults, forks and kills the store equals the chain', () => {
    test.each(firsts)(`${perTest} of ${count} seeds without fsync, from seed %i on`, async (from) => {
      const summary = await runSeeds({ from, count: perTest, store: 'quick' })
      expect(summary.failed.map(describeSeed).join('\n')).toBe('')
      expect(summary).toMatchObject({ missing: 0, wrong: 0, repeated: 0 })
      // A run without events proves nothing.
      expect(summary.payments).toBeGreaterThan(perTest)
      expect(summary.reorgs).toBeGreaterThan(perTest / 4)
      expect(summary.kills).toBeGreaterThan(perTest / 10)
      expect(summary.clockJumps).toBeGreaterThan(perTest / 10)
      expect(summary.faults.size).toBeGreaterThan(20)
    })

    test(`${sqlite} seeds with fsync and deliveries`, async () => {
      const summary = await runSeeds({ from: 1, count: sqlite, store: 'sqlite' })
      expect(summary.failed.map(describeSeed).join('\n')).toBe('')
      expect(summary).toMatchObject({ missing: 0, wrong: 0, repeated: 0 })
      expect(summary.kills).toBeGreaterThan(sqlite / 10)
    })
  })
}
