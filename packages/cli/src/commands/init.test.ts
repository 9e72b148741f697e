import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { writeProject } from '../../test/write-project.js'
import { version } from '../files.js'
import { type FrameworkName, frameworkNames } from '../init/layout.js'
import { runCli } from '../run-cli.js'

type Options = Parameters<typeof writeProject>[2]

/** A minimal project, and a function that runs `init` in it. */
function project(framework: FrameworkName, options: Options = {}) {
  const folder = temporaryFolder()
  writeProject(folder, framework, options)
  return {
    folder,
    files: () => getFiles(folder),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    write: (path: string, text: string) => writeFileSync(join(folder, path), text),
    /** Adds dependencies to `package.json`. */
    list(field: 'dependencies' | 'devDependencies', added: object) {
      const path = join(folder, 'package.json')
      const manifest = JSON.parse(readFileSync(path, 'utf8'))
      writeFileSync(path, JSON.stringify({ ...manifest, [field]: { ...manifest[field], ...added } }))
    },
    async run(...args: string[]) {
      const io = testIo()
      const exitCode = await runCli(['init', framework, '--dir', folder, ...args], io)
      return { exitCode, out: io.lines.join('\n'), err: io.errors.join('\n'), io }
    },
    /** Runs it on a terminal, with an answer to its question. */
    async answer(text: string) {
      const io = testIo({ live: () => {}, input: () => Object.assign(Readable.from([text]), { isTTY: true }) })
      const exitCode = await runCli(['init', framework, '--dir', folder], io)
      return { exitCode, out: io.lines.join('\n') }
    },
  }
}

/** Every file below the folder, with its text. */
function getFiles(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(paths.sort().map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]))
}

const shared = ['migrate.ts', 'receiver.ts', 'tables.sql', 'webhook.test.ts', 'webhook.ts'].map((n) => `payments/${n}`)
/** The files of a project; a framework that is not named has those of a server. */
const written: Partial<Record<FrameworkName, readonly string[]>> = {
  next: ['app/webhook/route.ts', 'next.config.mjs', ...shared],
  lambda: ['payments/handler.ts', ...shared],
  worker: ['payments/payment-object.ts', 'payments/webhook.test.ts', 'payments/worker.ts', 'wrangler.toml'],
}
const ofServer = ['payments/main.ts', ...shared]

test.each(frameworkNames)(
  '%s: the diff comes first, --yes writes what it shows, and a second run changes nothing',
  async (framework) => {
    const { files, run } = project(framework)
    const before = files()

    const dryRun = await run('--dry-run')
    expect(dryRun.exitCode).toBe(0)
    expect(files()).toEqual(before)

    const { exitCode, out } = await run('--yes')
    expect(exitCode).toBe(0)
    expect(out.startsWith(dryRun.out)).toBe(true)
    const after = files()
    const created = Object.keys(after).filter((path) => !Object.hasOwn(before, path))
    expect(created).toEqual(['.env.example', '.gitignore', ...(written[framework] ?? ofServer)].sort())
    for (const path of created) expect(dryRun.out).toContain(`--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,`)
    for (const [path, text] of Object.entries(after)) {
      expect(path.length + text.length).toBeGreaterThan(10)
      expect(text).not.toMatch(/WEBHOOK_PATH|PAYMENTS_FOLDER|PROJECT_NAME|EXTENSION/)
    }
    const ours = { '@payment-integration/version-store': version, '@payment-integration/webhook': version }
    expect(JSON.parse(after['package.json'] ?? '').dependencies).toMatchObject(ours)

    expect(await run('--yes')).toMatchObject({ exitCode: 0, out: 'There is nothing to change.', err: '' })
    expect(files()).toEqual(after)
  },
)

test('on a terminal it asks: yes writes, and any other answer writes nothing and exits with 1', async () => {
  const { files, answer } = project('express')
  const before = files()
  for (const text of ['n\n', '\n', 'yesterday\n', '']) {
    const { exitCode, out } = await answer(text)
    expect(exitCode).toBe(1)
    expect(out).toMatch(/Write these 9 files\? \[y\/N\]\nNothing was written\.$/)
    expect(files()).toEqual(before)
  }
  expect((await answer(' Yes\n')).exitCode).toBe(0)
  expect(files()['payments/receiver.ts']).toContain('openReceiver')
})

test.each([[], ['--json']])(
  'without a terminal and --yes nothing is written, and the exit code is 2 (%s)',
  async (...args) => {
    const { files, run } = project('koa')
    const before = files()
    const { exitCode, err } = await run(...args)
    expect([exitCode, err]).toEqual([2, 'Nothing was written: pass --yes to write these files, or --dry-run.'])
    expect(files()).toEqual(before)
  },
)

test('a file with other content is kept and named with the lines to add, and the rest is written', async () => {
  const { folder, read, write, run } = project('express')
  mkdirSync(join(folder, 'payments'))
  write('payments/receiver.ts', 'export const mine = 1\n')
  const { exitCode, out } = await run('--yes')
  expect(exitCode).toBe(1)
  expect(read('payments/receiver.ts')).toBe('export const mine = 1\n')
  expect(read('payments/webhook.ts')).toContain('createExpressHandler')
  expect(out).toContain('payments/receiver.ts has other content, so it was not changed. Add by hand:')
  expect(out).toContain('\n  export function openReceiver(')
  expect(out).not.toContain('+++ b/payments/receiver.ts')

  const again = await run('--yes')
  expect(again.exitCode).toBe(1)
  expect(again.out).not.toContain('+++')
  expect(read('payments/receiver.ts')).toBe('export const mine = 1\n')
})

test('package.json keeps its fields, indentation, versions and scripts; another script of the same name is named', async () => {
  const { read, write, run } = project('node', { language: 'js' })
  const manifest = {
    ...{ name: 'shop', type: 'module', license: 'MIT', scripts: { 'payments:test': 'mine', start: 'node .' } },
    dependencies: { zod: '4.0.0', '@payment-integration/webhook': '^0.0.9' },
  }
  write('package.json', JSON.stringify(manifest, null, '\t'))
  const { exitCode, out } = await run('--yes')
  expect(exitCode).toBe(1)
  expect(out).toContain('  "payments:test": "node --test payments/webhook.test.js"')
  const text = read('package.json')
  expect(text).toMatch(/^\{\n\t"name": "shop",[\s\S]*[^\n]$/)
  expect(JSON.parse(text)).toEqual({
    ...manifest,
    scripts: {
      ...manifest.scripts,
      payments: 'node --env-file=.env.local payments/main.js',
      'payments:migrate': 'node --env-file=.env.local payments/migrate.js payments/tables.sql',
    },
    dependencies: {
      '@payment-integration/version-store': version,
      '@photostructure/sqlite': '1.2.1',
      ...manifest.dependencies,
    },
    devDependencies: { '@payment-integration/testing': version },
  })
})

test('.env.example and .gitignore get only the lines that are missing', async () => {
  const { read, write, run } = project('express')
  write('.env.example', 'PORT=1\n# API_SECRET=\nDATABASE_URL=postgres://shop')
  write('.gitignore', 'node_modules\n/.env.local')
  expect((await run('--yes')).exitCode).toBe(0)
  expect(read('.gitignore')).toBe('node_modules\n/.env.local\npayments.db*\n')
  const text = read('.env.example')
  expect(text.startsWith('PORT=1\n# API_SECRET=\nDATABASE_URL=postgres://shop\n#')).toBe(true)
  const names = [...text.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name)
  expect(names).toEqual([
    ...['PORT', 'API_SECRET', 'DATABASE_URL'],
    ...['INTEGRATION_ADDRESS', 'WEBHOOK_SIGNING_SECRET', 'PAYMENTS_URL'],
  ])
})

test('a line for databases in .gitignore covers neither the secrets of a Worker nor the log of a database', async () => {
  const worker = project('worker')
  worker.write('.gitignore', '*.db\n')
  await worker.run('--yes')
  expect(worker.read('.gitignore')).toBe('*.db\n.env.local\n.dev.vars\n')
  const koa = project('koa')
  koa.write('.gitignore', '.env*\n*.db\n')
  await koa.run('--yes')
  expect(koa.read('.gitignore')).toBe('.env*\n*.db\npayments.db*\n')
})

test('JavaScript without "type": "module" gets require and module.exports, and with it ES modules', async () => {
  const common = project('express', { language: 'js', isModule: false })
  await common.run('--yes')
  expect(common.read('payments/main.js')).toContain("const { openReceiver } = require('./receiver.js')")
  expect(common.read('payments/receiver.js')).toContain('module.exports = { openReceiver, storePayment }')
  expect(Object.values(common.files()).join('')).not.toMatch(/^(import|export) /m)
  const modern = project('express', { language: 'js' })
  await modern.run('--yes')
  expect(modern.read('payments/main.js')).toContain("import { openReceiver } from './receiver.js'")
})

test('a folder src, a path, and the test runner of the project are used', async () => {
  const { folder, list, read, run } = project('hono')
  mkdirSync(join(folder, 'src'))
  list('devDependencies', { vitest: '4.1.12' })
  expect((await run('--yes', '--path', '/hooks/pay')).exitCode).toBe(0)
  expect(read('src/payments/webhook.ts')).toContain("app.all('/hooks/pay', ")
  expect(read('src/payments/webhook.test.ts')).toContain("import { test } from 'vitest'")
  expect(JSON.parse(read('package.json')).scripts['payments:test']).toBe('vitest run src/payments/webhook.test.ts')
})

test('pg among the dependencies selects PostgreSQL, and --database overrides it', async () => {
  const { list, run } = project('koa')
  list('dependencies', { pg: '8.0.0' })
  expect((await run('--dry-run')).out).toContain('createPostgresVersionStore')
  expect((await run('--dry-run', '--database', 'sqlite')).out).toContain('createSqliteVersionStore')
})

test.each([
  [{ app: 'src/app' }, 'src/app/webhook/route.ts', "'../../payments/receiver'"],
  [{ app: 'src/pages' }, 'src/pages/api/webhook.ts', "'../../payments/receiver'"],
  [{ app: 'app' }, 'app/webhook/route.ts', "'../../payments/receiver'"],
])('Next %j: the route is %s', async ({ app }, path, receiverImport) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'package.json'), '{"dependencies":{"next":"16.4.6"}}')
  writeFileSync(join(folder, 'tsconfig.json'), '{}')
  mkdirSync(join(folder, app), { recursive: true })
  expect(await runCli(['init', 'next', '--dir', folder, '--yes'], testIo())).toBe(0)
  expect(readFileSync(join(folder, path), 'utf8')).toContain(`from ${receiverImport}`)
  const payments = app.startsWith('src/') ? 'src/payments' : 'payments'
  expect(existsSync(join(folder, payments, 'receiver.ts'))).toBe(true)
})

test.each([
  ['worker', 'wrangler.toml', 'PAYMENTS PaymentObject', 'class_name = "PaymentObject"'],
  ['next', 'next.config.js', "module.exports = { a: ['@photostructure/sqlite'] }", 'serverExternalPackages'],
] as const)(
  '%s: init exits with 1 and keeps an existing %s that lacks a required setting',
  async (framework, path, needed, shown) => {
    const { write, read, run } = project(framework)
    write(path, '# mine\n')
    const { exitCode, out } = await run('--yes')
    expect([exitCode, read(path)]).toEqual([1, '# mine\n'])
    expect(out).toContain(shown)
    write(path, `# mine\n${needed}`)
    expect(await run('--yes')).toMatchObject({ exitCode: 0, out: 'There is nothing to change.' })
  },
)

test('--json prints the files, the kept files and the steps as events', async () => {
  const { write, run } = project('worker')
  write('wrangler.toml', 'name = "mine"\n')
  const { io } = await run('--yes', '--json')
  const events = getEvents(io)
  expect(events.map(({ event, path }) => [event, path])).toEqual([
    ...['worker.ts', 'payment-object.ts', 'webhook.test.ts'].map((name) => ['init.file', `payments/${name}`]),
    ...['package.json', '.env.example', '.gitignore'].map((path) => ['init.file', path]),
    ['init.conflict', 'wrangler.toml'],
    ['init.written', undefined],
  ])
})

test.each([
  ...['webhook', "/a'b", '/../up'].map((path) => ['express', ['--path', path], /--path takes segments/] as const),
  ['lambda', ['--path', '/a'], /omit --path/],
  ['lambda', ['--database', 'sqlite'], /cannot use sqlite/],
  ['worker', ['--database', 'sqlite'], /omit --database/],
  ['express', ['--database', 'mysql'], /Allowed choices are sqlite, postgres/],
] as const)('init %s %j exits with 2', async (framework, args, message) => {
  const { files, run } = project(framework)
  const before = files()
  const { exitCode, err } = await run('--yes', ...args)
  expect([exitCode, err]).toEqual([2, expect.stringMatching(message)])
  expect(files()).toEqual(before)
})

test.each([
  ['no package.json', null, /There is no package.json/],
  ['a package.json that is not JSON', '{', /is not JSON/],
  ['a package.json of another shape', '{"dependencies":[]}', /is not what npm expects/],
  ['a project without the framework', '{}', /does not list express/],
  ['a huge package.json', ' '.repeat(1024 * 1024 + 1), /larger than 1 MiB/],
])('%s is an error with exit code 1', async (_, text, message) => {
  const folder = temporaryFolder()
  if (text !== null) writeFileSync(join(folder, 'package.json'), text)
  const io = testIo()
  expect(await runCli(['init', 'express', '--dir', folder, '--yes'], io)).toBe(1)
  expect(io.errors.join('\n')).toMatch(message)
  expect(Object.keys(getFiles(folder))).toEqual(text === null ? [] : ['package.json'])
})

test('--from takes our packages, and what they depend on, from the tarballs of a folder', async () => {
  const { folder, read, run } = project('express')
  const packed = temporaryFolder()
  const tarball = (name: string) => `payment-integration-${name}-${version}.tgz`
  for (const name of ['contract', 'testing', 'version-store', 'webhook']) writeFileSync(join(packed, tarball(name)), '')
  const { exitCode, out } = await run('--from', packed, '--yes')
  const step = `In the clone, make payments: npm start -- --forward-to http://localhost:3000/webhook --env "${join(folder, '.env.local')}"`
  expect([exitCode, out.includes(step), out.includes('@payment-integration/cli dev')]).toEqual([0, true, false])
  const { dependencies, devDependencies } = JSON.parse(read('package.json'))
  const getEntry = (name: string) => [
    `@payment-integration/${name}`,
    `file:${relative(folder, packed)}/${tarball(name)}`,
  ]
  expect(dependencies).toMatchObject(Object.fromEntries(['version-store', 'webhook'].map(getEntry)))
  expect(devDependencies).toMatchObject(Object.fromEntries(['contract', 'testing'].map(getEntry)))
})

test('--from a folder without them names what is missing, and writes nothing', async () => {
  const { files, run } = project('express')
  const before = files()
  const { exitCode, err } = await run('--from', temporaryFolder(), '--yes')
  expect(err).toMatch(/no tarball of version-store, webhook, testing, contract .*npm run pack/)
  expect(exitCode).toBe(1)
  expect(files()).toEqual(before)
})
