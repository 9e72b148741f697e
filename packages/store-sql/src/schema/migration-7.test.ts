import { createHash } from 'node:crypto'
import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { fillSchema, makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration6 } from './migration-6.js'
import { migration7 } from './migration-7.js'

test('the text of migration 7 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration7(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    'b3ef97266f944a29b24b284aa7b27fe7612c86afc5c89656270a27bc55e271cc',
  )
})

onBothDatabases((empty) => {
  /** A database of migration 6 whose one delivery waits in a lane, after so many attempts. */
  async function upToDate(lane: number, attempted: number) {
    const engine = await empty()
    const { types, name } = engine.differences
    await makeSchema(engine, 5)
    await fillSchema(engine, 5, fixtures.facts())
    const rest = [
      ...migration6(types, name),
      `insert into ${name('schema_versions')} (version) values (6)`,
      `update ${name('deliveries')} set lane = ${lane}, attempted = ${attempted}, schedule_from = 1, replayed_at = due_at`,
    ]
    await engine.transaction(async (db) => {
      for (const statement of rest) await sql.raw(statement).execute(db)
    })
    const store = createStore(engine)
    await Promise.all([1, 2, 3, 4].map(() => store.migrate()))
    return store
  }

  const block = { failures: 5, blocks: 1, blockMs: 3_600_000 }

  test('retries of replays of migration 6 queue with the other retries: a block holds them', async () => {
    const store = await upToDate(2, 2)
    const claim = await fixtures.claimOne(store)
    expect(claim).toMatchObject({ replay: true, step: 2, attempt: 3 })
    const settled = [{ claim, attempt: fixtures.failed, verdict: { kind: 'retry', inMs: 0 } }] as const
    await store.deliveries.settle(settled, () => block)
    expect(await store.deliveries.claim({ limit: 1, leaseMs: 1 })).toEqual([])
  })

  test('replays of migration 6 that were not attempted yet stay replays', async () => {
    const store = await upToDate(2, 1)
    expect(await fixtures.claimOne(store)).toMatchObject({ replay: true, step: 1, attempt: 2 })
  })
})
