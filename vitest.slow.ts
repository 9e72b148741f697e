/**
 * The second tier, `npm run test:rest`: seeds, kills, random walks, browsers, processes, the examples; then, alone,
 * timing.
 * @module
 */
import { readdirSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { aloneTests, maxWorkers, packages, project, slowTests, sources } from './vitest.projects.js'

const include = [slowTests]

export default defineConfig({
  test: {
    maxWorkers,
    projects: [
      ...Object.keys(packages).map((name) => project(`${name} slow`, `packages/${name}`, { include })),
      ...readdirSync('examples').map((name) =>
        project(`example-${name}`, `examples/${name}`, { include: ['**/*.test.ts'] }),
      ),
      project('tooling slow', 'scripts', { include }),
      project('simulation slow', 'simulation', { include }),
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
