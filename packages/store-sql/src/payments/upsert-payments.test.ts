import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { postgresMissing } from '../../test/postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from '../../test/support/engines.js'
import type { Connection } from '../engine.js'
import { migrate } from '../migrations/migrate.js'
import { upsertPayments } from './upsert-payments.js'

const { address, hash, primary } = fixtures

// Every column once with a value that a careless comparison takes for another: nulls, empty text and large numbers.
const given = [
  primary(),
  primary({
    chainId: Number.MAX_SAFE_INTEGER,
    integrationAddress: null,
    tokenIn: { address: address(1), symbol: null, decimals: 255, amount: 2n ** 256n - 1n },
    tokenOut: { address: address(2), symbol: '', decimals: 0, gross: 0n, net: 0n },
  }),
]

async function writesOfSecondTime(open: OpenEngine, written: (db: Connection) => Promise<unknown>): Promise<void> {
  const { engine } = open
  await migrate(engine)
  await engine.transaction((db) => upsertPayments(db, engine.dialect, given))
  const again = (payments: typeof given) =>
    engine.transaction(async (db) => {
      const before = await written(db)
      await upsertPayments(db, engine.dialect, payments)
      return [before, await written(db)]
    })
  const [before, after] = await again(given)
  expect(after).toEqual(before)
  const [unmoved, moved] = await again([primary({ blockHash: hash(2) })])
  expect(moved).not.toEqual(unmoved)
}

describe('unchanged payments cost no write', () => {
  test('on SQLite', async () => {
    const open = await openSqlite()
    await writesOfSecondTime(open, async (db) => (await sql`select total_changes() as changes`.execute(db)).rows)
    await open.close()
  })

  test.skipIf(postgresMissing)('on PostgreSQL', async () => {
    const open = await openPostgres()
    const places = sql`select id, ctid, xmin from ${sql.raw(open.engine.dialect.name('payments'))} order by id`
    await writesOfSecondTime(open, async (db) => (await places.execute(db)).rows)
    await open.close()
  })
})
