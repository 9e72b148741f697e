import { describe, expect, test } from 'vitest'
import { describeSeed, runSeeds } from './run.js'
import { simulatedSeeds } from './seeds-in-tests.js'

const { memory: memorySeeds, sqlite: sqliteSeeds } = simulatedSeeds
const perTest = 250
const timeoutMs = 600_000
const firsts = (count: number, size: number) =>
  Array.from({ length: Math.ceil(count / size) }, (_, index) => 1 + index * size)

/** Repairs by the operator in all seeds that ran. A fork that needs one is rare. */
let repairs = 0

describe('after faults, forks and kills the store holds what the chain holds', () => {
  test.each(firsts(memorySeeds, perTest))(
    `${perTest} of ${memorySeeds} seeds in memory, from seed %i on`,
    async (from) => {
      const summary = await runSeeds({ from, count: perTest, store: 'memory' })
      expect(summary.failed.map(describeSeed).join('\n')).toBe('')
      expect(summary).toMatchObject({ missing: 0, wrong: 0, repeated: 0 })
      // A run in which nothing happened shows nothing.
      expect(summary.payments).toBeGreaterThan(perTest)
      expect(summary.reorganisations).toBeGreaterThan(perTest / 4)
      expect(summary.kills).toBeGreaterThan(perTest / 10)
      repairs += summary.repairs
      expect(summary.faults.size).toBeGreaterThan(20)
    },
    timeoutMs,
  )

  test('in memory an operator had to repair some of the chains', () => {
    expect(repairs).toBeGreaterThan(0)
  })

  test(
    `${sqliteSeeds} seeds on SQLite, with deliveries`,
    async () => {
      const summary = await runSeeds({ from: 1, count: sqliteSeeds, store: 'sqlite' })
      expect(summary.failed.map(describeSeed).join('\n')).toBe('')
      expect(summary).toMatchObject({ missing: 0, wrong: 0, repeated: 0 })
      expect(summary.kills).toBeGreaterThan(sqliteSeeds / 10)
    },
    timeoutMs,
  )
})
