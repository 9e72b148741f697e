/**
 * All tests. `npm test` runs the projects `everyday` and `isolated`: every rule, every adapter, one payment from end to
 * end. `npm run test:rest` runs `slow` and then, one file at a time, `alone`.
 * @module
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

/** Seeds, kills, browsers, real processes, poolers and migrations, examples: slow to run, and seldom red alone. */
const slow = '**/*.slow.test.ts'
/** Tests that compare times, or the memory of their process. */
const alone = '**/*.alone.test.ts'
/** Tests that replace a module or change a global: each such file loads its own modules. */
const isolated = '**/*.isolated.test.ts'

/** Sources instead of builds. */
const conditions = ['@payment-integration/source']

/** Changes a text of one source file as it is loaded, for `npm run mutants`. */
function getMutant(json: string) {
  const { file, from, to } = JSON.parse(json) as Record<'file' | 'from' | 'to', string>
  const path = join(import.meta.dirname, file)
  return {
    name: 'mutant',
    enforce: 'pre' as const,
    transform: (code: string, id: string) => (id.split('?')[0] === path ? code.replace(from, () => to) : null),
  }
}
const { MUTANT: mutant } = process.env

function project(name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  return {
    plugins: mutant === undefined ? [] : [getMutant(mutant)],
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    // No test fails because the machine is slow: the limits only end a test that hangs.
    test: { name, testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 300_000 } }, ...test },
  }
}

const everyday = ['packages', 'tools/scripts', 'tools/simulation', 'tools/mutants'].map(
  (folder) => `${folder}/**/*.test.ts`,
)

export default defineConfig({
  test: {
    // Vitest leaves one core to itself; on two cores every file would wait for every other.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      // One module registry for all packages: they load each other's modules once a worker, not once a file.
      project('everyday', {
        include: everyday,
        exclude: [...configDefaults.exclude, slow, alone, isolated],
        isolate: false,
      }),
      project('isolated', { include: [`{packages,tools}/${isolated}`] }),
      project('slow', { isolate: false, include: [`{packages,tools}/${slow}`, 'examples/**/*.test.ts'] }),
      project('alone', { include: [`packages/${alone}`], maxWorkers: 1, sequence: { groupOrder: 1 } }),
    ],
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
})
