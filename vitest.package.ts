import { defineProject } from 'vitest/config'

/** What every package's tests share: sources instead of builds, and type tests where asked for. */
export function packageTests(name: string, options: { typeTests?: boolean; timeoutMs?: number } = {}) {
  const conditions = ['@payment-integration/source']
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
      testTimeout: options.timeoutMs ?? 15_000,
      ...(options.typeTests
        ? { typecheck: { enabled: true, include: ['src/**/*.test-d.ts'], tsconfig: '../../tsconfig.json' } }
        : {}),
    },
  })
}
