import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { postgresMissing } from '../../test/postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from '../../test/support/engines.js'
import { postgresScans, sqlitePlan } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import { blocksQuery, overdueQuery } from '../payments/payment-changes.js'
import { awaitingUpdate, waitingQuery } from './deposits.js'

const { deposit, hash, primary } = fixtures
const rows = 10_000
const limit = 20

/** Nearly all payments are off the chain and dropped, and nearly all deposits are settled. */
async function fill({ engine }: OpenEngine): Promise<void> {
  const store = createStore(engine)
  await store.migrate()
  const at = (n: number) => ({ txHash: hash(n), blockNumber: n })
  const numbers = Array.from({ length: rows }, (_, n) => n)
  await store.transaction(async (tx) => {
    await tx.upsertPayments(numbers.map((n) => primary(at(n))))
    await tx.upsertDeposits(numbers.map((n) => deposit(at(n))))
    await tx.leaveChain(1, rows / 2)
    await tx.upsertDeposits(numbers.map((n) => deposit(at(n))))
  })
  await engine.transaction(async (db) => {
    const dropped = db.updateTable('payments').set({ dropped: '{"formerState":null}' })
    await dropped
      .where('off_chain', '=', 1)
      .where('block_number', '<', rows - limit)
      .execute()
    await db.updateTable('deposits').set({ waiting: 0 }).where('id', '<', rows).execute()
  })
}

const queries = ({ engine: { read, dialect } }: OpenEngine) => ({
  'overdue payments': overdueQuery(read, dialect, { chainId: 1, atOrBelow: rows, limit }),
  'payments of blocks': blocksQuery(read, 1, 5_000, 5_000 + limit - 1),
  'deposits of payments that leave': awaitingUpdate(read, dialect, 1, rows - limit),
  'waiting deposits': waitingQuery(read, { limit }),
  'waiting deposits behind one': waitingQuery(read, { afterId: String(rows + 100), limit }),
})

describe('SQLite searches an index', () => {
  let open: OpenEngine
  beforeAll(async () => {
    open = await openSqlite()
    await fill(open)
  })
  afterAll(() => open?.close())

  test('for every read of chains', async () => {
    const used: Record<string, string[]> = {}
    for (const [name, query] of Object.entries(queries(open)))
      used[name] = (await sqlitePlan(open.engine, query)).map(({ detail }) => detail.replace(/ \(.*/, ''))
    expect(used).toEqual({
      'overdue payments': [
        'SEARCH payments USING INDEX payments_overdue',
        'CORRELATED SCALAR SUBQUERY 1',
        'SEARCH d USING INDEX sqlite_autoindex_deposits_1',
      ],
      'deposits of payments that leave': [
        'SEARCH deposits USING INDEX sqlite_autoindex_deposits_1',
        'LIST SUBQUERY 2',
        'SEARCH p USING INDEX payments_block',
      ],
      'payments of blocks': [
        'SEARCH payments USING INDEX payments_block',
        'USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY',
      ],
      'waiting deposits': ['SEARCH deposits USING INDEX deposits_waiting'],
      'waiting deposits behind one': ['SEARCH deposits USING INDEX deposits_waiting'],
    })
  })
})

describe.skipIf(postgresMissing)(
  `PostgreSQL searches an index${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let open: OpenEngine
    beforeAll(async () => {
      open = await openPostgres()
      await fill(open)
      await sql`analyze`.execute(open.engine.read)
    })
    afterAll(() => open?.close())

    test('for every read of chains, and touches no more rows than it answers', async () => {
      for (const [name, query] of Object.entries(queries(open))) {
        const scans = await postgresScans(open.engine, query)
        expect(scans.length, name).toBeGreaterThan(0)
        for (const { type, touched } of scans.filter((scan) => scan.type !== 'ModifyTable')) {
          expect(type, name).toMatch(/^Index (Only )?Scan$/)
          expect(touched, name).toBeLessThanOrEqual(limit)
        }
      }
    })
  },
)
