import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDelivery, createTestSnapshot } from '@payment-integration/webhook/testing'
import { Redis } from 'ioredis'
import pg from 'pg'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../../store-sql/test/postgres.js'
import { readBlocks, runCode, startReceiver } from '../../webhook/test/run-code.js'
import { drivers } from './drivers.js'
import { redisMissing, startRedis } from './redis-server.js'

const secret = 'whsec_of_the_readme'
const cwd = new URL('..', import.meta.url)

/** The path of a database file that ends with its test. */
function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'version-store-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'receiver.db')
}

/** The rows of a query on a database file. */
function readRows(path: string, sql: string): unknown[] {
  const database = drivers[0].open(path)
  onTestFinished(() => database.close())
  return database.prepare(sql).all()
}

test('the receiver of the README takes new versions, drops repeated and overtaken ones, and rejects forgeries', async () => {
  const [code = ''] = readBlocks('packages/version-store/README.md', 'js')
  const path = newFile()
  const env = { DATABASE_PATH: path, WEBHOOK_SIGNING_SECRET: secret }
  const { post, postEndless, kill } = await startReceiver({ code, cwd, env })
  const send = async (version: number, state: string, fault?: 'forged', chainId = '8453') =>
    post(await createTestDelivery({ secret, snapshot: createTestSnapshot({ version, state, chainId }), fault }))
  expect(await send(1, 'pending')).toBe(204)
  expect(await send(3, 'refund_pending')).toBe(204)
  expect(await send(3, 'refund_pending')).toBe(204)
  expect(await send(2, 'success')).toBe(204)
  expect(await send(4, 'refund_success', 'forged')).toBe(401)
  // The same hash on another chain is another payment.
  expect(await send(1, 'failure', undefined, '1')).toBe(204)
  const [status, pulled] = await postEndless()
  expect(status).toBe(413)
  expect(pulled).toBeLessThan(500)

  await kill()
  expect(readRows(path, 'SELECT chain_id, state FROM payment_states ORDER BY chain_id')).toEqual([
    { chain_id: '1', state: 'failure' },
    { chain_id: '8453', state: 'refund_pending' },
  ])
})

/** The TypeScript block of a guide that has this text, as JavaScript. */
function block(text: string): string {
  const found = readBlocks('docs/guides/store-versions-in-your-database.md', 'ts')
  const [code, another] = found.filter((one) => one.includes(text))
  expect([typeof code, another], text).toEqual(['string', undefined])
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true }
  return ts.transpile(code ?? '', options)
}

/** Hands versions 1, 1, 3, 2 to what the block made, and gives the decisions. */
async function getDecisions(text: string, env: Record<string, string>): Promise<string[]> {
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
  return JSON.parse((await runCode({ code, cwd, env })).stdout) as string[]
}

const handled = ['apply', 'duplicate', 'apply', 'stale']

test('the block for libsql handles each version once', async () => {
  const path = newFile()
  expect(await getDecisions("from 'libsql'", { DATABASE_PATH: path })).toEqual(handled)
  expect(readRows(path, 'SELECT state FROM payment_states')).toEqual([{ state: 'success' }])
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
  ])('the block for %s handles each version once', async (_, text) => {
    const admin = new pg.Client({ connectionString: server.connectionString })
    await admin.connect()
    onTestFinished(() => admin.end())
    await admin.query('DROP TABLE IF EXISTS payment_states, payment_versions')
    await admin.query('CREATE TABLE payment_states (tx_hash text PRIMARY KEY, state text)')
    const host = new URL(server.connectionString).searchParams.get('host') ?? ''
    // Without an address the drivers take these, as libpq does; not all of them take a socket in an address.
    const env = { DATABASE_URL: '', PGHOST: host, PGUSER: 'postgres', PGDATABASE: 'postgres' }
    expect(await getDecisions(text, env)).toEqual(handled)
    expect((await admin.query('SELECT state FROM payment_states')).rows).toEqual([{ state: 'success' }])
  })
})

test.skipIf(redisMissing !== null)(
  `the block for ioredis handles each version once${redisMissing === null ? '' : ` (${redisMissing})`}`,
  async () => {
    const server = await startRedis()
    onTestFinished(() => server.remove())
    expect(await getDecisions("from 'ioredis'", { REDIS_PATH: server.path })).toEqual(handled)
    const redis = new Redis(server.path)
    onTestFinished(() => redis.disconnect())
    expect(await redis.get('payment:0xb2')).toBe('success')
  },
)

test('the block for an adapter of your own passes under node:test', async () => {
  const { stdout } = await runCode({ code: block("from 'node:test'"), cwd })
  expect(stdout).toMatch(/^# fail 0$/m)
  expect(stdout).toMatch(/^# pass 46$/m)
})
