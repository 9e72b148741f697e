import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTestDelivery, createTestSnapshot } from '@payment-integration/webhook/testing'
import { Redis } from 'ioredis'
import pg from 'pg'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../../store-sql/test/postgres.js'
import { drivers } from './drivers.js'
import { freePort } from './free-port.js'
import { redisMissing, startRedis } from './redis-server.js'

const secret = 'whsec_of_the_readme'
const toText = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const readme = toText('packages/version-store/README.md')
const guide = toText('docs/guides/store-versions-in-your-database.md')
const cwd = fileURLToPath(new URL('..', import.meta.url))
const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']

test('the receiver of the README takes new versions, drops repeated and overtaken ones, and rejects forgeries', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'version-store-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [, code = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
  const port = await freePort()
  const path = join(folder, 'receiver.db')
  const child = spawn(process.execPath, [...flags, code], {
    cwd,
    env: { ...process.env, PORT: `${port}`, DATABASE_PATH: path, WEBHOOK_SIGNING_SECRET: secret },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/`
  const listening = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await vi.waitUntil(listening, { timeout: 300_000, interval: 50 })

  const send = async (version: number, state: string, fault?: 'forged', chainId = '8453') => {
    const snapshot = createTestSnapshot({ version, state, chainId })
    const delivery = await createTestDelivery({ secret, snapshot, fault })
    return (await fetch(url, { method: 'POST', ...delivery })).status
  }
  expect(await send(1, 'pending')).toBe(204)
  expect(await send(3, 'refund_pending')).toBe(204)
  expect(await send(3, 'refund_pending')).toBe(204)
  expect(await send(2, 'success')).toBe(204)
  expect(await send(4, 'refund_success', 'forged')).toBe(401)
  // The same hash on another chain is another payment.
  expect(await send(1, 'failure', undefined, '1')).toBe(204)

  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      if (++pulled > 1000) controller.close()
      else controller.enqueue(new Uint8Array(65_536))
    },
  })
  expect((await fetch(url, { method: 'POST', body: endless, duplex: 'half' } as RequestInit)).status).toBe(413)
  expect(pulled).toBeLessThan(500)

  child.kill('SIGKILL')
  await once(child, 'exit')
  const database = drivers[0].open(path)
  expect(database.prepare('SELECT chain_id, state FROM orders ORDER BY chain_id').all()).toEqual([
    { chain_id: '1', state: 'failure' },
    { chain_id: '8453', state: 'refund_pending' },
  ])
  database.close()
})

/** The TypeScript block of a guide that has this text, as JavaScript. */
function block(text: string): string {
  const found = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
  const [code, another] = found.filter((one) => one.includes(text))
  expect([typeof code, another], text).toEqual(['string', undefined])
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true }
  return ts.transpile(code ?? '', options)
}

/** Hands versions 1, 1, 3, 2 to what the block made, and gives the decisions. */
function getDecisions(text: string, env: Record<string, string>): string[] {
  const accept = text.includes('.in(tx)')
    ? ''
    : `import { createReceiver } from '@payment-integration/version-store'
       const { accept } = createReceiver({ verify: async (snapshot) => ({ snapshot }), store, handle })`
  const code = `${block(text)}
    ${accept}
    const payment = { integrationAddress: '0xa1', chainId: '1', txHash: '0xb2', state: 'success' }
    const decisions = []
    for (const version of [1, 1, 3, 2]) decisions.push(await accept({ ...payment, version }).catch((error) => error.code))
    process.stdout.write(JSON.stringify(decisions), () => process.exit(0))`
  const output = execFileSync(process.execPath, [...flags, code], {
    cwd,
    env: { ...process.env, ...env },
    timeout: 300_000,
  })
  return JSON.parse(output.toString()) as string[]
}

const handled = ['apply', 'duplicate', 'apply', 'stale']

test('the block for libsql handles each version once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'version-store-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'receiver.db')
  expect(getDecisions("from 'libsql'", { DATABASE_PATH: path })).toEqual(handled)
  const database = drivers[0].open(path)
  onTestFinished(() => database.close())
  expect(database.prepare('SELECT state FROM orders').all()).toEqual([{ state: 'success' }])
})

describe.skipIf(postgresMissing !== null)('PostgreSQL', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  test.each([
    ['pg', 'Snapshot, tx: pg.PoolClient) =>'],
    ['postgres.js', "from 'postgres'"],
    ['Kysely', "from 'kysely'"],
    ['Drizzle', "from 'drizzle-orm'"],
    ['your own transaction', '.in(tx)'],
  ])(
    'the block for %s handles each version once',
    async (_, text) => {
      const admin = new pg.Client({ connectionString: server.connectionString })
      await admin.connect()
      onTestFinished(() => admin.end())
      await admin.query('DROP TABLE IF EXISTS orders, payment_versions')
      await admin.query('CREATE TABLE orders (tx_hash text PRIMARY KEY, state text)')
      const host = new URL(server.connectionString).searchParams.get('host') ?? ''
      // Without an address the drivers take these, as libpq does; not all of them take a socket in an address.
      const env = { DATABASE_URL: '', PGHOST: host, PGUSER: 'postgres', PGDATABASE: 'postgres' }
      expect(getDecisions(text, env)).toEqual(handled)
      expect((await admin.query('SELECT state FROM orders')).rows).toEqual([{ state: 'success' }])
    },
    30_000,
  )
})

test.skipIf(redisMissing !== null)(
  `the block for ioredis handles each version once${redisMissing === null ? '' : ` (${redisMissing})`}`,
  async () => {
    const server = await startRedis()
    onTestFinished(() => server.remove())
    expect(getDecisions("from 'ioredis'", { REDIS_PATH: server.path })).toEqual(handled)
    const redis = new Redis(server.path)
    onTestFinished(() => redis.disconnect())
    expect(await redis.get('order:0xb2')).toBe('success')
  },
  30_000,
)

test('the block for an adapter of your own passes under node:test', () => {
  const output = execFileSync(process.execPath, [...flags, block("from 'node:test'")], {
    cwd,
    timeout: 300_000,
  }).toString()
  expect(output).toMatch(/^# fail 0$/m)
  expect(output).toMatch(/^# pass 46$/m)
})
