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
export const sources = {
  resolve: { conditions: fromSource },
  ssr: { resolve: { conditions: fromSource, externalConditions: fromSource } },
}

/** No test fails because the machine is slow: a limit only ends a test that hangs. */
const hangsAfterMs = 600_000

/** Vitest leaves one core to itself; on two cores every file would wait for every other. */
export const maxWorkers = Math.max(2, availableParallelism())

interface Project {
  /**
   * A test replaces a module or a global, so each file loads its own modules. Otherwise files share them, which is
   * cheaper.
   */
  readonly isolated?: boolean
}

/** Every package, by its folder. */
export const packages: Readonly<Record<string, Project>> = {
  'chain-evm': {},
  cli: {},
  client: { isolated: true },
  contract: {},
  core: {},
  'identity-sumsub': {},
  server: {},
  'store-sql': {},
  testing: {},
  'version-store': {},
  webhook: { isolated: true },
}

/** One project: the tests of a folder that `include` names, without those that `exclude` names. */
export function project(
  name: string,
  root: string,
  { include, exclude = [], isolated }: Project & { include: string[]; exclude?: string[] },
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
      isolate: isolated === true,
    },
  }
}
