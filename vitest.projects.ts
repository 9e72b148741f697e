/**
 * The test projects of the repository. `vitest.workspace.ts` runs the everyday tier, `vitest.slow.ts` the rest.
 * @module
 */
import { availableParallelism } from 'node:os'
import { configDefaults, type TestProjectInlineConfiguration } from 'vitest/config'

/** Seeds, kills, random walks, timing, browsers, real processes: slow to run, and seldom red alone. */
export const slowTests = '**/*.slow.test.ts'
/** Tests that compare times: they run one at a time, after all others. */
export const aloneTests = '**/*.alone.test.ts'

/** Sources instead of builds. */
const fromSource = ['@payment-integration/source']
const sources = {
  resolve: { conditions: fromSource },
  ssr: { resolve: { conditions: fromSource, externalConditions: fromSource } },
}

/** No test fails because the machine is slow: a limit only ends a test that hangs. */
const hangsAfterMs = 600_000

/** Vitest leaves one core to itself; on two cores every file would wait for every other. */
export const maxWorkers = Math.max(2, availableParallelism())

/** A test replaces a module: each such file loads its own. All others share their modules, which is cheaper. */
export const isolatedTests = '**/*.isolated.test.ts'

/** One project: the tests of a folder that `include` names, without those that `exclude` names. */
export function project(
  name: string,
  root: string,
  { include, exclude = [], isolate = true }: { include: string[]; exclude?: string[]; isolate?: boolean },
): TestProjectInlineConfiguration {
  return {
    ...sources,
    root,
    test: {
      name,
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      testTimeout: hangsAfterMs,
      hookTimeout: hangsAfterMs,
      isolate,
    },
  }
}
