import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBuilders, createDeliveries, type SignedDelivery } from '@payment-integration/testing'
import { runDoctor } from '@payment-integration/testing/doctor'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { type FrameworkName, frameworkNames } from '../src/init/layout.js'
import { runCli } from '../src/run-cli.js'
import { runScript, startGenerated } from './generated-project.js'
import { temporaryFolder } from './temporary-folder.js'
import { testIo } from './test-io.js'
import { type ProjectOptions, writeProject } from './write-project.js'

const root = join(import.meta.dirname, '../../..')

/** The states of the payments that a receiver stored. */
async function storedStates(databaseUrl: string): Promise<unknown[]> {
  const query = 'SELECT version, state FROM received_payments ORDER BY version'
  if (databaseUrl.startsWith('sqlite:')) {
    const database = new DatabaseSync(databaseUrl.slice('sqlite:'.length))
    const rows = database.prepare(query).all()
    database.close()
    return rows.map((row) => Object(row).state)
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(query)
  await client.end()
  return rows.map(({ state }) => state)
}

/** The frameworks whose templates of the receiver's own test differ; the others have that of Express. */
const ownTests: readonly FrameworkName[] = ['express', 'next', 'worker', 'lambda']

const projects: readonly [FrameworkName, ProjectOptions][] = [
  ...frameworkNames.map((name) => [name, { language: 'ts' }] as [FrameworkName, ProjectOptions]),
  ['next', { language: 'ts', router: 'pages' }],
  ['express', { language: 'ts', database: 'postgres', isModule: false }],
  // The same programs without their types, as templates.test.ts compares: each kind of project loads one.
  ['express', { language: 'js', database: 'postgres', isModule: false }],
  ['hono', { language: 'js' }],
  ['next', { language: 'js', isModule: false }],
  ['worker', { language: 'js', isModule: false }],
]

test.each(projects)(
  '%s %j: the receiver accepts a signed delivery once and rejects a forged one',
  async (framework, options) => {
    const receiver = await startGenerated(framework, options)
    onTestFinished(() => receiver.close())
    const deliveries = createDeliveries({ secret: receiver.secret })
    const build = createBuilders({ seed: 5, integrationAddress: receiver.address })
    const post = async (delivery: SignedDelivery) => (await fetch(receiver.url, { method: 'POST', ...delivery })).status

    const pending = build.snapshot({ version: 1, state: 'pending' })
    const success = { ...pending, version: 2, state: 'success' as const }
    const good = await deliveries.good(success)
    expect(await post(await deliveries.forged(success))).toBe(401)
    expect(await post(good)).toBe(204)
    expect(await post(await deliveries.duplicate(good))).toBe(204)
    expect(await post(await deliveries.good(pending))).toBe(204)
    expect((await fetch(receiver.url)).status).toBe(405)
    if (receiver.databaseUrl !== null) expect(await storedStates(receiver.databaseUrl)).toEqual(['success'])

    // JavaScript is the same code without types: whether it loads and answers, the requests above have shown.
    if (options.language === 'ts') {
      const { url, secret: signingSecret, address: integrationAddress } = receiver
      // No verdict depends on the speed of this machine.
      const report = await runDoctor({ url, signingSecret, integrationAddress, timeoutMs: 120_000 })
      expect(report.findings).toEqual([])
    }
    if (ownTests.includes(framework)) {
      const { exitCode, output } = await runScript(receiver.folder, 'payments:test')
      expect(output).toMatch(/pass 1\b/)
      expect(exitCode).toBe(0)
    }
  },
)

test('a receiver in TypeScript compiles under the strictest options, for each framework and database', async () => {
  const folder = temporaryFolder()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const written: [FrameworkName, ProjectOptions][] = [
    ...frameworkNames.map((name) => [name, {}] as [FrameworkName, ProjectOptions]),
    ['next', { router: 'pages', database: 'postgres' }],
    ['node', { database: 'postgres', isModule: false }],
    ['nest', { isModule: false }],
  ]
  for (const [index, [framework, options]] of written.entries()) {
    const project = join(folder, framework === 'next' ? 'bundled' : 'node', `${index}`)
    mkdirSync(project, { recursive: true })
    writeProject(project, framework, options)
    const database = options.database === undefined ? [] : ['--database', options.database]
    expect(await runCli(['init', framework, '--dir', project, ...database, '--yes'], testIo())).toBe(0)
  }
  for (const [kind, compilerOptions] of [
    ['node', {}],
    ['bundled', { module: 'esnext', moduleResolution: 'bundler' }],
  ] as const) {
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        ...compilerOptions,
        noEmit: true,
        // An application in CommonJS writes imports, which the compiler rewrites.
        verbatimModuleSyntax: false,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['**/*.ts'],
    }
    writeFileSync(join(folder, kind, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', join(folder, kind)], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  }
})
