/**
 * The second tier, `npm run test:rest`: seeds, kills, random walks, browsers, processes, the examples; then, alone,
 * timing.
 * @module
 */
import { readdirSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { aloneTests, maxWorkers, packages, project, slowTests, sources } from './vitest.projects.js'

/** These files start processes, change globals and replace modules: each loads its own. */
const tier = { include: [slowTests], isolated: true }

export default defineConfig({
  test: {
    maxWorkers,
    projects: [
      ...Object.keys(packages).map((name) => project(`${name} slow`, `packages/${name}`, tier)),
      ...readdirSync('examples').map((name) =>
        project(`example-${name}`, `examples/${name}`, { ...tier, include: ['**/*.test.ts'] }),
      ),
      project('tooling slow', 'scripts', tier),
      project('simulation slow', 'simulation', tier),
      {
        ...sources,
        test: {
          name: 'alone',
          include: [`packages/${aloneTests}`],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
