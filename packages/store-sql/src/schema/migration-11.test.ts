import { createHash } from 'node:crypto'
import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { createStore } from '../create-store.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration11 } from './migration-11.js'

const { answered, claimOne, hash, indexed, integration, settleOne } = fixtures

test('the text of migration 11 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration11(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    'b884f39f5ee8241f3efea54139dc97cee23432091716b93bf98a21a0411e0645',
  )
})

onBothDatabases((empty, database) => {
  test('no index has what a claim writes', async () => {
    const { engine, store } = await filled()
    const query =
      database === 'SQLite'
        ? `select sql as text from sqlite_schema where type = 'index' and tbl_name = 'deliveries' and sql is not null`
        : `select pg_get_indexdef(indexrelid) as text from pg_index
            where indrelid = '${engine.differences.name('deliveries')}'::regclass`
    const { rows } = await sql.raw<{ text: string }>(query).execute(engine.read)
    expect(rows.map(({ text }) => text).join('\n')).toMatch(/deliveries_due/)
    expect(rows.filter(({ text }) => /claim_token|leased_until/.test(text))).toEqual([])
    // What else is in its row stays as it is.
    const rest = () => sql.raw(`select status, lane, due_at, attempted from ${engine.differences.name('deliveries')}`)
    const before = await rest().execute(engine.read)
    await claimOne(store)
    expect((await rest().execute(engine.read)).rows).toEqual(before.rows)
  })

  test('a claim of migration 10 comes back when its lease ends, and its late answer counts until then', async () => {
    const { engine, store } = await filled()
    const table = engine.differences.name('deliveries')
    // As that claimed: the end of the lease as the due time, in the lane of what comes back.
    const claimed = (dueAt: number) =>
      engine.transaction((db) =>
        sql
          .raw(`update ${table} set lane = 1, due_at = ${dueAt}, claim_token = 'old', leased_until = null`)
          .execute(db),
      )
    await claimed(9e12)
    expect(await store.deliveries.claim({ limit: 1, leaseMs: 60_000 })).toEqual([])
    expect(await store.transaction((tx) => tx.replayDeliveries({ limit: 1 }))).toMatchObject({ underWay: 1 })
    await claimed(1)
    const taken = await claimOne(store)
    expect(taken).toMatchObject({ attempt: 1 })
    const late = { ...taken, claimToken: 'old.0' }
    expect(await settleOne(store, late, answered, { kind: 'delivered' })).toBeNull()
    await claimed(1)
    expect(await settleOne(store, late, answered, { kind: 'delivered' })).toBe('delivered')
  })

  async function filled() {
    const engine = await empty()
    const store = createStore(engine)
    await store.migrate()
    await store.integrations.insert(integration())
    await indexed(store, { txHash: hash(1) })
    return { engine, store }
  }
})
