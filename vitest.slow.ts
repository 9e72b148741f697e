/**
 * The second tier, `npm run test:rest`: seeds, kills, random walks, browsers, processes, the examples; then, alone,
 * timing.
 * @module
 */
import { defineConfig } from 'vitest/config'
import { aloneTests, maxWorkers, project, slowTests } from './vitest.projects.js'

const slow = ['packages', 'scripts', 'simulation', 'site'].map((folder) => `${folder}/${slowTests}`)
const alone = project('alone', '.', { include: [`packages/${aloneTests}`] })

export default defineConfig({
  test: {
    maxWorkers,
    projects: [
      // These files start processes, change globals and replace modules: each loads its own.
      project('slow', '.', { include: [...slow, 'examples/**/*.test.ts'] }),
      { ...alone, test: { ...alone.test, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
