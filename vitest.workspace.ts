/** The everyday tier, `npm test`: every rule, every adapter, one payment from end to end. @module */
import { defineConfig } from 'vitest/config'
import { aloneTests, isolatedTests, maxWorkers, project, slowTests } from './vitest.projects.js'

const folders = ['packages', 'scripts', 'simulation']
const include = folders.map((folder) => `${folder}/**/*.test.ts`)

export default defineConfig({
  test: {
    maxWorkers,
    projects: [
      // One project for all packages: they load each other's modules once for each worker, not once for each package.
      project('everyday', '.', { include, exclude: [slowTests, aloneTests, isolatedTests], isolate: false }),
      project('isolated', '.', { include: folders.map((folder) => `${folder}/${isolatedTests}`) }),
    ],
    coverage: { provider: 'v8', include: ['packages/*/{src,conformance}/**'] },
  },
})
