import { configDefaults, defineProject } from 'vitest/config'

/** Sources instead of builds. */
const fromSource = ['@payment-integration/source']
export const sources = {
  resolve: { conditions: fromSource },
  ssr: { resolve: { conditions: fromSource, externalConditions: fromSource } },
}

/** Tests that measure time: they run one file at a time after all the others. */
export const aloneTests = '**/*.alone.test.ts'

/**
 * What every package's tests share: sources instead of builds, and type tests where asked for. `sharesModules` loads modules once for many
 * files, and not for each: only where no test replaces a module or depends on what another one left in it.
 */
export function packageTests(
  name: string,
  options: { typeTests?: boolean; timeoutMs?: number; sharesModules?: boolean } = {},
) {
  return defineProject({
    ...sources,
    test: {
      name,
      include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
      exclude: [...configDefaults.exclude, aloneTests],
      // Machines differ by a factor of five, and so does one from minute to minute.
      testTimeout: options.timeoutMs ?? 60_000,
      hookTimeout: 60_000,
      isolate: !options.sharesModules,
      ...(options.typeTests
        ? // The files of the tests and what they import; `npm run types` checks the whole workspace.
          { typecheck: { enabled: true, include: ['src/**/*.test-d.ts'], tsconfig: 'test/types.tsconfig.json' } }
        : {}),
    },
  })
}
