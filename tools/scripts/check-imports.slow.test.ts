import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, runScript } from './test/check-folder.js'

const root = join(import.meta.dirname, '../..')
const scope = '@payment-integration'

/** Packages of the small workspace, with what their package.json lists. */
const manifests: Record<string, Record<string, string>> = {
  contract: { zod: '1.0.0' },
  webhook: {},
  core: { [`${scope}/contract`]: '0.0.0', [`${scope}/webhook`]: '0.0.0' },
  client: { [`${scope}/contract`]: '0.0.0' },
  'chain-evm': { viem: '1.0.0' },
}

/** One import of every allowed kind: the small workspace without a fault. */
const sound: Record<string, string> = {
  'contract/src/exports/index.ts': `export * from '../shape.js'`,
  'contract/src/shape.ts': `import 'zod'\nexport interface Shape { readonly a: string }`,
  'webhook/src/exports/index.ts': `export const sign = 1`,
  'webhook/src/sign.test.ts': `import 'ky'\nimport { sign } from './exports/index.js'\nexport const copy = sign`,
  'core/src/exports/index.ts': `export * from '../rule.js'`,
  'core/src/rule.ts': `import 'node:crypto'\nimport type { Shape } from '${scope}/contract'\nimport { sign } from '${scope}/webhook'\nexport type Rule = Shape\nexport const rule = sign`,
  'client/src/exports/index.ts': `export * from '../read.js'`,
  'client/src/read.ts': `import type { Shape } from '${scope}/contract'\nexport type Read = Shape`,
  'chain-evm/src/exports/index.ts': `export type Way = 'http'`,
  'chain-evm/src/dev/payer.ts': `import { http } from 'viem'\nexport const way = http`,
}

/** Writes the small workspace, runs the check on it, and returns its exit code with everything it printed. */
function check(files: Record<string, string>, lists: Record<string, Record<string, string>> = {}) {
  const exports = { '.': { '@payment-integration/source': './src/exports/index.ts' } }
  const packages = Object.entries({ ...manifests, ...lists })
  const ofPackages = packages.map(([name, dependencies]) => [
    `packages/${name}/package.json`,
    JSON.stringify({ name: `${scope}/${name}`, exports, dependencies }),
  ])
  const installed = ['zod', 'ky', 'viem', 'pino'].flatMap((name) => [
    [`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'dist/index.js' })],
    [`node_modules/${name}/dist/index.js`, ''],
  ])
  const sources = Object.entries({ ...sound, ...files }).map(([path, text]) => [`packages/${path}`, `${text}\n`])
  const folder = makeFolder({
    'package.json': '{ "private": true, "type": "module" }',
    ...Object.fromEntries([...ofPackages, ...installed, ...sources]),
  })
  for (const file of ['.dependency-cruiser.cjs', 'tsconfig.json', 'tsconfig.base.json'])
    cpSync(join(root, file), join(folder, file))
  mkdirSync(join(folder, 'node_modules', scope))
  for (const [name] of packages) symlinkSync(join('../..', 'packages', name), join(folder, 'node_modules', scope, name))
  return runScript('scripts/check-imports.mjs', folder)
}

test('a workspace whose imports follow the arrows passes', () => {
  const { code, printed } = check({})
  expect(printed).toContain('imports: 14 files, 11 imports, 0 problems')
  expect(code).toBe(0)
})

test('each forbidden import is reported under its rule', () => {
  const { code, printed } = check(
    {
      'contract/src/up.ts': `import '${scope}/core'`,
      'contract/src/shape.ts': `import 'zod'\nimport type { Rule } from '${scope}/core'\nexport type Shape = Rule | 1`,
      'contract/src/built-in.ts': `import 'node:fs'`,
      'contract/src/one.ts': `import type { Two } from './two.js'\nexport type One = Two`,
      'contract/src/two.ts': `import type { One } from './one.js'\nexport type Two = One | 1`,
      'contract/src/back.ts': `import './exports/index.js'`,
      'webhook/src/fetch.ts': `import 'ky'`,
      'webhook/src/gone.ts': `import './no-such-file.js'`,
      'core/src/internal/table.ts': 'export const table = 1',
      'core/src/exports/leak.ts': `export * from '../internal/table.js'`,
      'core/src/room/up.ts': `import '../rule.js'`,
      'core/src/around.ts': `import '../../webhook/src/exports/index.js'`,
      'core/src/uses-test.ts': `import './rule.test.js'`,
      'core/src/rule.test.ts': 'export {}',
      'core/src/conformance/suite.ts': `import 'ky'\nimport '../exports/index.js'`,
      'core/src/runs-suite.ts': `import './conformance/suite.js'`,
      'chain-evm/src/hash.ts': `import { keccak256 } from 'viem'\nexport const hash = keccak256`,
      'chain-evm/src/way.ts': `import type { Transport } from 'viem'\nexport type Way = Transport`,
      'client/src/other-entry.ts': `import '${scope}/contract/hidden'`,
      'server/src/chain.ts': `import '${scope}/chain-evm'`,
      'server/src/log.ts': `import { pino } from 'pino'\nexport const log = pino`,
      'server/src/on-demand.ts': `import type { Way } from '${scope}/chain-evm'\nexport const open = (): Promise<Way> => import('pino').then(() => import('${scope}/chain-evm')).then(() => 'http')`,
    },
    { client: {}, contract: {}, server: { [`${scope}/chain-evm`]: '0.0.0', pino: '1.0.0' } },
  )
  const reported = [...printed.matchAll(/^ {2}(\S.*?)\s*$/gm)].map(([, line = '']) => line)
  for (const expected of [
    'arrow-contract: packages/contract/src/up.ts -> packages/core/src/exports/index.ts',
    'arrow-contract: packages/contract/src/shape.ts -> packages/core/src/exports/index.ts',
    'no-node-built-in: packages/contract/src/built-in.ts -> fs',
    'no-feature-to-exports: packages/contract/src/back.ts -> packages/contract/src/exports/index.ts',
    'npm-webhook: packages/webhook/src/fetch.ts -> node_modules/ky/dist/index.js',
    'npm-listed: packages/webhook/src/fetch.ts -> node_modules/ky/dist/index.js',
    'npm-listed: packages/contract/src/shape.ts -> node_modules/zod/dist/index.js',
    'no-unresolved: packages/webhook/src/gone.ts -> ./no-such-file.js',
    'no-unresolved: packages/client/src/other-entry.ts -> @payment-integration/contract/hidden',
    'no-room-to-root: packages/core/src/room/up.ts -> packages/core/src/rule.ts',
    'internal-stays-internal: packages/core/src/exports/leak.ts -> packages/core/src/internal/table.ts',
    'no-path-between-packages: packages/core/src/around.ts -> packages/webhook/src/exports/index.ts',
    'no-test-in-shipped-code: packages/core/src/uses-test.ts -> packages/core/src/rule.test.ts',
    'npm-suite-core: packages/core/src/conformance/suite.ts -> node_modules/ky/dist/index.js',
    'npm-listed: packages/core/src/conformance/suite.ts -> node_modules/ky/dist/index.js',
    'no-feature-to-exports: packages/core/src/conformance/suite.ts -> packages/core/src/exports/index.ts',
    'no-feature-to-suite: packages/core/src/runs-suite.ts -> packages/core/src/conformance/suite.ts',
    'viem-at-dev-only: packages/chain-evm/src/hash.ts -> node_modules/viem/dist/index.js',
    'viem-at-dev-only: packages/chain-evm/src/way.ts -> node_modules/viem/dist/index.js',
    'listed-client: packages/client/src/read.ts -> packages/contract/src/exports/index.ts',
    'on-demand-server: packages/server/src/chain.ts -> packages/chain-evm/src/exports/index.ts',
    'on-demand-server: packages/server/src/log.ts -> node_modules/pino/dist/index.js',
  ])
    expect(reported).toContain(expected)
  expect(reported.filter((line) => line.includes('server/src/on-demand.ts'))).toEqual([])
  expect(reported.some((line) => /^no-ring: .*one\.ts -> .*two\.ts/.test(line))).toBe(true)
  expect(reported.some((line) => /^no-ring: .*contract[/]src[/].* -> .*core[/]src[/]/.test(line))).toBe(true)
  expect(code).toBe(1)
})

test('a dependency that only a test imports is reported as unused', () => {
  const { code, printed } = check({}, { webhook: { ky: '1.0.0' } })
  expect(printed).toContain('unused-dependency: packages/webhook/package.json lists ky')
  expect(code).toBe(1)
})

test('a package that the tables do not name stops the check', () => {
  const { code, printed } = check({ 'stray/src/exports/index.ts': 'export {}' }, { stray: {} })
  expect(printed).toContain('packages/stray is in neither table of .dependency-cruiser.cjs')
  expect(code).toBe(1)
})
