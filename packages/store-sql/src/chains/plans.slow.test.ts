import type { Store } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { analyze, onFilledDatabases } from '../../test/support/indexed-plans.js'
import { postgresScans, sqliteSteps } from '../../test/support/plans.js'
import type { Engine } from '../engine.js'
import { blocksQuery, overdueQuery } from '../payments/payment-changes.js'
import { reopenDepositsQuery, waitingQuery } from './deposits.js'

const { deposit, hash, primary } = fixtures
const rows = 10_000
const limit = 20

/** Nearly all payments are off the chain and dropped, and nearly all deposits are settled. */
async function fill(store: Store, engine: Engine): Promise<void> {
  const at = (n: number) => ({ txHash: hash(n), blockNumber: n })
  const numbers = Array.from({ length: rows }, (_, n) => n)
  await store.transaction(async (tx) => {
    await tx.upsertPayments(numbers.map((n) => primary(at(n))))
    await tx.upsertDeposits(numbers.map((n) => deposit(at(n))))
    await tx.markOffChainAbove(1, rows / 2)
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

const queries = ({ read }: Engine) => ({
  'overdue payments': overdueQuery(read, { chainId: 1, atOrBelow: rows, limit }),
  'payments of blocks': blocksQuery(read, 1, 5_000, 5_000 + limit - 1),
  'deposits of payments that leave': reopenDepositsQuery(read, 1, rows - limit),
  'waiting deposits': waitingQuery(read, { limit }),
  'waiting deposits behind one': waitingQuery(read, { afterId: String(rows + 100), limit }),
})

onFilledDatabases(fill, {
  SQLite: (engine) =>
    test('every read of chains searches an index', async () => {
      const used: Record<string, string[]> = {}
      for (const [name, query] of Object.entries(queries(engine())))
        used[name] = (await sqliteSteps(engine(), query)).map((step) => step.replace(/ \(.*/, ''))
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
    }),
  PostgreSQL: (engine) =>
    test('every read of chains searches an index, and touches no more rows than it answers', async () => {
      await analyze(engine())
      for (const [name, query] of Object.entries(queries(engine()))) {
        const scans = await postgresScans(engine(), query)
        expect(scans.length, name).toBeGreaterThan(0)
        for (const { type, touched } of scans.filter((scan) => scan.type !== 'ModifyTable')) {
          expect(type, name).toMatch(/^Index (Only )?Scan$/)
          expect(touched, name).toBeLessThanOrEqual(limit)
        }
      }
    }),
})
