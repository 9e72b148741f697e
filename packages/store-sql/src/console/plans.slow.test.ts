/** Each read of the console uses an index on both databases, and touches no more rows than it may. */
import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresMissing } from '../../test/postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from '../../test/support/engines.js'
import { type Compiled, postgresScans, sqlitePlan } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import { attemptsQuery, newestQuery } from './delivery-reads.js'
import { failureQuery, integrationQuery, latencyQuery, newestIdsQuery } from './endpoint-reads.js'
import { attemptCounts, paymentCounts } from './minute-counts.js'
import { keyQuery } from './payment-keys.js'
import { searchQuery, updatesQuery } from './payment-reads.js'

const { address, epoch, hash, indexPayments, integration, primary } = fixtures

const rows = 10_000
const limit = 50
const shops = [0xa0, 0xa1].map((n) => address(n))

/** Payments on two chains of two integrations, each with a delivery and an attempt; the newest 20 wait. */
async function fill({ engine }: OpenEngine): Promise<void> {
  const store = createStore(engine)
  await store.migrate()
  for (let times = 0; times < 2; times += 1) await store.console.prepare()
  const many = Array.from({ length: 500 }, (_, n) => address(0x400 + n))
  for (const own of [...shops, ...many]) await store.integrations.insert(integration({ address: own }))
  const given = Array.from({ length: rows }, (_, n) =>
    primary({
      txHash: hash(n),
      chainId: 1 + (n % 2),
      integrationAddress: shops[n % 2] ?? null,
      blockTimestamp: epoch + n * 1_000,
      memoHex: hash(n),
    }),
  )
  await store.transaction((tx) => indexPayments(tx, given))
  await engine.transaction(async (db) => {
    await db
      .updateTable('payments')
      .set({ state: 'success' })
      .where('id', '<', rows - 100)
      .execute()
    await db.updateTable('payments').set({ state: 'failure' }).where('id', '<', 30).execute()
    await db
      .deleteFrom('outbox')
      .where('id', '<=', rows - 20)
      .execute()
    await sql`insert into ${sql.raw(engine.dialect.name('attempts'))}
      select id, 1, created_at, 5, 204, null, null, 0 from ${sql.raw(engine.dialect.name('deliveries'))}`.execute(db)
  })
}

const newestIds = Array.from({ length: limit }, (_, n) => rows - 2 * n)
const middle = { blockTimestamp: epoch + 5_000_000, chainId: 1, txHash: hash(5_000) }
const queries = ({ engine: { read } }: OpenEngine): Readonly<Record<string, Compiled>> => ({
  'newest payments': keyQuery(read, {}, limit),
  'older payments': keyQuery(read, { before: middle }, limit),
  'payments of an integration': keyQuery(read, { integrationAddress: shops[0] ?? '', before: middle }, limit),
  'payments of no integration': keyQuery(read, { integrationAddress: null }, limit),
  'payments in a rare state': keyQuery(read, { state: 'failure' }, limit),
  'payments of a time': keyQuery(read, { since: epoch + 100_000, until: epoch + 200_000 }, limit),
  'payments by hash': searchQuery(read, { kind: 'hash', txHash: hash(77) }, limit),
  'payments by memo': searchQuery(read, { kind: 'memo', prefix: hash(77) }, limit),
  'updates of a transaction': updatesQuery(read, { chainId: 1, txHash: hash(77), limit }),
  'newest deliveries': newestQuery(read, { afterId: '0', upToId: String(rows) }, limit),
  'pending deliveries': newestQuery(read, { status: 'pending', afterId: '0', upToId: String(rows) }, limit),
  'exhausted deliveries': newestQuery(read, { status: 'exhausted', afterId: '0', upToId: String(rows) }, limit),
  'deliveries of an integration': newestQuery(
    read,
    { integrationAddress: shops[1] ?? '', upToId: String(rows) },
    limit,
  ),
  'newest deliveries of an endpoint': newestIdsQuery(read, shops[1] ?? ''),
  'failures of an endpoint': failureQuery(read, newestIds),
  'latencies of an endpoint': latencyQuery(read, newestIds),
  'integrations after an address': integrationQuery(read, address(0x500), limit),
  'newest attempts': attemptsQuery(read, 0, limit),
  'attempts by minute': attemptCounts(read, { since: 0, limit }),
  'payments by minute': paymentCounts(read, { since: epoch, limit }),
})

describe('SQLite', () => {
  let open: OpenEngine
  beforeAll(async () => {
    open = await openSqlite()
    await fill(open)
  })
  afterAll(() => open?.close())

  test('reads every table by an index, in its order', async () => {
    for (const [name, query] of Object.entries(queries(open))) {
      const plan = (await sqlitePlan(open.engine, query)).map(({ detail }) => detail)
      // A scan by an index ends at the limit; the outbox is small by itself.
      const scans = plan.filter((step) =>
        /^SCAN (payments|d|p|attempts|updates)\b(?! USING (COVERING )?INDEX)/.test(step),
      )
      expect(
        scans.filter((step) => step !== 'SCAN d'),
        `${name}: ${plan.join('; ')}`,
      ).toEqual([])
      const sorts = plan.filter((step) => step === 'USE TEMP B-TREE FOR ORDER BY')
      expect(sorts, `${name}: ${plan.join('; ')}`).toEqual([])
    }
  })
})

describe.skipIf(postgresMissing)('PostgreSQL', () => {
  let open: OpenEngine
  beforeAll(async () => {
    open = await openPostgres()
    await fill(open)
    await sql`analyze`.execute(open.engine.read)
  })
  afterAll(() => open?.close())

  test('touches no more rows of a table than the limit', async () => {
    for (const [name, query] of Object.entries(queries(open)))
      for (const { table, touched } of await postgresScans(open.engine, query))
        expect(touched, `${name}: ${table}`).toBeLessThanOrEqual(2 * limit)
  })
})
