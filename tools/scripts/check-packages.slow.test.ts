import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const made: string[] = []
afterEach(async () => {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true })
})

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
async function workspace(change: Record<string, string | null> = {}, fields: object = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'check-packages-'))
  made.push(root)
  const folder = join(root, 'packages/demo')
  const written = { ...files, 'package.json': JSON.stringify({ ...manifest, ...fields }), ...change }
  for (const [path, text] of Object.entries(written)) {
    if (text === null) continue
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  await mkdir(join(root, 'tools/scripts'), { recursive: true })
  await writeFile(join(root, 'package.json'), '{ "private": true, "workspaces": ["packages/*"] }')
  return root
}

/** Runs the check and resolves its exit code with everything it printed. */
function check(root: string, ...args: string[]) {
  return new Promise<{ code: number; printed: string }>((resolve) => {
    const script = join(import.meta.dirname, 'check-packages.mjs')
    execFile(process.execPath, [script, '--root', root, ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, printed: stdout + stderr }),
    )
  })
}

test('a valid package passes; then a changed name or manifest, an import over its budget or without one, and a need of an optional peer are reported', async () => {
  const root = await workspace()
  const budget = { entry: '@payment-integration/demo', names: ['answer'], web: 1000, node: 1000 }
  const recordBudgets = (budgets: object[]) =>
    writeFile(
      join(root, 'tools/scripts/size-budgets.json'),
      JSON.stringify(budgets.map((change) => ({ ...budget, ...change }))),
    )
  await recordBudgets([{}])
  const sound = await check(root, '--update')
  expect(sound.printed).toMatch(/^ok {3}@payment-integration\/demo: 9 files\n/)
  expect(sound.printed).toMatch(/web \d+ of 1000 +node \d+ of 1000 +\{ answer \} from @payment-integration\/demo/)
  expect(sound.code).toBe(0)

  const record = join(root, 'tools/scripts/public-api.snapshot.json')
  const recorded = { '@payment-integration/demo': { '.': { values: ['answer'], types: ['Answer'] } } }
  expect(JSON.parse(await readFile(record, 'utf8'))).toEqual(recorded)
  await writeFile(record, JSON.stringify(recorded).replace('"Answer"', '"Question"'))
  await recordBudgets([{ web: 1 }, { names: ['question'] }])
  const peers = { peerDependencies: { peer: '^1.0.0' }, peerDependenciesMeta: { peer: { optional: true } } }
  const changed = { ...manifest, engines: { node: '>=22' }, ...peers }
  await writeFile(join(root, 'packages/demo/package.json'), JSON.stringify(changed))
  for (const name of ['index.js', 'index.d.ts'])
    await writeFile(join(root, 'packages/demo/dist', name), `import 'peer'\n${files[`dist/${name}`]}`)
  const peer = join(root, 'node_modules/peer')
  await mkdir(peer, { recursive: true })
  await writeFile(join(peer, 'package.json'), '{ "name": "peer", "type": "module", "exports": "./index.js" }')
  for (const name of ['index.js', 'index.d.ts']) await writeFile(join(peer, name), 'export {}\n')
  const { code, printed } = await check(root)
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

test('defects that would break a consumer are reported', async () => {
  const root = await workspace(
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
  await writeFile(join(root, 'packages/demo/README.md'), `See ${root}/packages\n`)
  await writeFile(join(root, 'tools/scripts/size-budgets.json'), '[]')
  const { code, printed } = await check(root)
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

test('a package that is not built stops the check', async () => {
  const root = await workspace(
    Object.fromEntries(Object.keys(files).flatMap((path) => (path.startsWith('dist/') ? [[path, null]] : []))),
  )
  const { code, printed } = await check(root)
  expect(printed).toContain('packages/demo has no dist; run `npm run build` first.')
  expect(code).toBe(1)
})
