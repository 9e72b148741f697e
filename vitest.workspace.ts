import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { aloneTests, sources } from './vitest.package.js'

export default defineConfig({
  test: {
    // Vitest leaves a core to itself: on two cores all files would wait for each other, and most of them wait for processes and clocks.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      'packages/*',
      'examples/*',
      'scripts',
      'simulation',
      {
        ...sources,
        test: {
          name: 'alone',
          include: [`packages/${aloneTests}`],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    coverage: { provider: 'v8', include: ['packages/*/{src,conformance}/**'] },
  },
})
