import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, runScript, writeFiles } from './test/check-folder.js'

const entry = {
  '@payment-integration/source': './src/exports/index.ts',
  import: { types: './dist/index.d.ts', default: './dist/index.js' },
  require: { types: './dist/index.d.cts', default: './dist/index.cjs' },
}
const manifest = {
  name: '@payment-integration/demo',
  version: '1.2.3',
  license: 'Apache-2.0',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.19.0' },
  exports: { '.': entry, './package.json': './package.json' },
  bin: { demo: './dist/bin.js' },
  files: ['dist', 'src'],
}
const declarations = 'export declare const answer: 42\nexport type Answer = typeof answer\n'
const files: Record<string, string> = {
  'README.md': '# demo\n',
  LICENSE: 'Apache-2.0\n',
  'src/exports/index.ts': 'export const answer = 42 as const\nexport type Answer = typeof answer\n',
  'dist/index.js': 'export const answer = 42\n',
  'dist/index.cjs': "'use strict'\nexports.answer = 42\n",
  'dist/index.d.ts': declarations,
  'dist/index.d.cts': declarations,
  'dist/bin.js': "#!/usr/bin/env node\nconsole.log('1.2.3')\n",
}

/** A workspace of one built package; `change` may edit its files (null removes one) and its manifest. */
function workspace(change: Record<string, string | null> = {}, fields: object = {}): string {
  const written = { ...files, 'package.json': JSON.stringify({ ...manifest, ...fields }), ...change }
  const ofPackage = Object.entries(written).flatMap(([path, text]) =>
    text === null ? [] : [[`packages/demo/${path}`, text] as const],
  )
  return makeFolder({
    ...Object.fromEntries(ofPackage),
    'package.json': '{ "private": true, "workspaces": ["packages/*"] }',
    'tools/scripts/size-budgets.json': '[]',
  })
}

const check = (root: string, ...args: string[]) => runScript('scripts/check-packages.mjs', '--root', root, ...args)

test('a valid package passes; then a changed name or manifest, an import over its budget or without one, and a need of an optional peer are reported', () => {
  const root = workspace()
  const budget = { entry: '@payment-integration/demo', names: ['answer'], web: 1000, node: 1000 }
  const recordBudgets = (budgets: object[]) => {
    const recorded = JSON.stringify(budgets.map((change) => ({ ...budget, ...change })))
    writeFiles(root, { 'tools/scripts/size-budgets.json': recorded })
  }
  recordBudgets([{}])
  const sound = check(root, '--update')
  expect(sound.printed).toMatch(/^ok {3}@payment-integration\/demo: 9 files\n/)
  expect(sound.printed).toMatch(/web \d+ of 1000 +node \d+ of 1000 +\{ answer \} from @payment-integration\/demo/)
  expect(sound.code).toBe(0)

  const record = 'tools/scripts/public-api.snapshot.json'
  const recorded = { '@payment-integration/demo': { '.': { values: ['answer'], types: ['Answer'] } } }
  expect(JSON.parse(readFileSync(join(root, record), 'utf8'))).toEqual(recorded)
  recordBudgets([{ web: 1 }, { names: ['question'] }])
  const peers = { peerDependencies: { peer: '^1.0.0' }, peerDependenciesMeta: { peer: { optional: true } } }
  const changed = { ...manifest, engines: { node: '>=22' }, ...peers }
  const importing = (name: string) => ({ [`packages/demo/dist/${name}`]: `import 'peer'\n${files[`dist/${name}`]}` })
  writeFiles(root, {
    [record]: JSON.stringify(recorded).replace('"Answer"', '"Question"'),
    'packages/demo/package.json': JSON.stringify(changed),
    ...importing('index.js'),
    ...importing('index.d.ts'),
    'node_modules/peer/package.json': '{ "name": "peer", "type": "module", "exports": "./index.js" }',
    'node_modules/peer/index.js': 'export {}\n',
    'node_modules/peer/index.d.ts': 'export {}\n',
  })
  const { code, printed } = check(root)
  expect(printed).toContain('public API of @payment-integration/demo: + . type Answer')
  expect(printed).toContain('public API of @payment-integration/demo: - . type Question')
  expect(printed).toMatch(/\{ answer \} from @payment-integration\/demo takes \d+ bytes for web, 1 are allowed/)
  expect(printed).toContain('{ question } from @payment-integration/demo cannot be bundled for node')
  expect(printed).toContain('manifest of @payment-integration/demo: + engines node = ">=22"')
  expect(printed).toContain('manifest of @payment-integration/demo: - engines node = ">=20.19.0"')
  expect(printed).toContain('without optional peers @payment-integration/demo fails: ')
  expect(printed).toContain("Cannot find package 'peer'")
  expect(printed).toContain('without optional peers a consumer does not compile')
  expect(printed).not.toContain('import of @payment-integration/demo failed')
  expect(code).toBe(1)
})

test('defects that would break a consumer are reported', () => {
  const root = workspace(
    {
      LICENSE: null,
      'src/exports/extra.ts': 'export {}\n',
      'src/rule.test.ts': 'export {}\n',
      'dist/index.js': "import 'left-out'\nexport const answer = 42\n",
      'dist/index.cjs': "'use strict'\nexports.answers = 42\n",
      'dist/index.d.ts': `import type { Server } from 'node:http'\n${declarations}export declare const server: Server\n`,
      'dist/bin.js': "#!/usr/bin/env node\nconsole.log('0.0.0')\n",
    },
    {
      engines: undefined,
      sideEffects: undefined,
      dependencies: { 'left-out': '^1.0.0' },
      exports: { '.': { ...entry, require: { types: './dist/index.d.ts', default: './dist/index.cjs' } } },
    },
  )
  writeFiles(root, { 'packages/demo/README.md': `See ${root}/packages\n` })
  const { code, printed } = check(root)
  for (const expected of [
    'LICENSE is missing from the tarball',
    'src/rule.test.ts does not belong in the tarball',
    'README.md names a folder of the building machine',
    'sideEffects is undefined, not false',
    'left-out is ^1.0.0, not an exact version',
    'exports[./extra] is undefined',
    'exports[.] is {',
    'publint USE_ENGINES_NODE',
    'are-the-types-wrong (node16)',
    'import of @payment-integration/demo failed',
    'require of @payment-integration/demo has ["answers"], its types say ["answer","server"]',
    "error TS2591: Cannot find name 'node:http'",
    'demo --version exits 0 and prints 0.0.0',
  ])
    expect(printed).toContain(expected)
  expect(code).toBe(1)
})

test('a package that is not built stops the check', () => {
  const built = Object.keys(files).filter((path) => path.startsWith('dist/'))
  const { code, printed } = check(workspace(Object.fromEntries(built.map((path) => [path, null]))))
  expect(printed).toContain('packages/demo has no dist; run `npm run build` first.')
  expect(code).toBe(1)
})
