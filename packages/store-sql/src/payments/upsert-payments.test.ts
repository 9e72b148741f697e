import { sql } from 'kysely'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onBothDatabases } from '../../test/support/both-databases.js'
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

onBothDatabases((empty, database) => {
  test('unchanged payments cost no write', async () => {
    const engine = await empty()
    await migrate(engine)
    const name = sql.raw(engine.dialect.name('payments'))
    const written =
      database === 'SQLite'
        ? sql`select total_changes() as changes`
        : sql`select id, ctid, xmin from ${name} order by id`
    await engine.transaction((db) => upsertPayments(db, given))
    const again = (payments: typeof given) =>
      engine.transaction(async (db) => {
        const before = await written.execute(db)
        await upsertPayments(db, payments)
        return [before.rows, (await written.execute(db)).rows]
      })
    const [before, after] = await again(given)
    expect(after).toEqual(before)
    const [unmoved, moved] = await again([primary({ blockHash: hash(2) })])
    expect(moved).not.toEqual(unmoved)
  })
})
