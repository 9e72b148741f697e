/** The everyday tier, `npm test`: every rule, every adapter, one payment from end to end. @module */
import { defineConfig } from 'vitest/config'
import { aloneTests, maxWorkers, packages, project, slowTests } from './vitest.projects.js'

const include = ['**/*.test.ts']
const exclude = [slowTests, aloneTests]

export default defineConfig({
  test: {
    maxWorkers,
    projects: [
      ...Object.entries(packages).map(([name, each]) =>
        project(name, `packages/${name}`, { ...each, include, exclude }),
      ),
      project('tooling', 'scripts', { include, exclude }),
      project('simulation', 'simulation', { include, exclude }),
    ],
    coverage: { provider: 'v8', include: ['packages/*/{src,conformance}/**'] },
  },
})
