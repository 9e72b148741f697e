import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { fillSchema, makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration12 } from './migration-12.js'

const { answered, claimOne, epoch, failed, settleOne } = fixtures

test('the text of migration 12 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration12(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    'e79310082807b0c8227f15fade10612668c4e08d61cf7ce2d6ef0a3baf5cdbcd',
  )
})

onBothDatabases((empty, database) => {
  /** A database of migration 11 whose one delivery has these values, after so many attempts that failed. */
  async function upToDate(values: string, attempts = 0) {
    const engine = await empty()
    const { name } = engine.differences
    await makeSchema(engine, 11)
    await fillSchema(engine, 11, fixtures.facts())
    await engine.transaction(async (db) => {
      for (let number = 1; number <= attempts; number += 1)
        await sql`insert into ${sql.raw(name('attempts'))} (delivery_id, number, started_at, latency_ms, status, reason)
          values (1, ${number}, ${epoch}, 1.5, 500, '"status_500"')`.execute(db)
      await sql
        .raw(`update ${name('deliveries')} set ${values}, created_at = ${epoch}, attempted = ${attempts}`)
        .execute(db)
    })
    const store = createStore(engine)
    await Promise.all([1, 2, 3, 4].map(() => store.migrate()))
    return store
  }

  const statusOf = async (store: Awaited<ReturnType<typeof upToDate>>) => {
    const [view] = await store.deliveries.list({ limit: 1 })
    return { status: view?.status, attempts: view?.attempts.length, next: view?.nextAttemptAt, made: view?.createdAt }
  }

  test('a delivery of before that is pending goes on where it was', async () => {
    const store = await upToDate(`lane = 1, due_at = ${epoch}`, 2)
    expect(await statusOf(store)).toEqual({ status: 'pending', attempts: 2, next: epoch, made: epoch })
    expect(await claimOne(store)).toMatchObject({ attempt: 3, step: 3, replay: false })
  })

  test('a replay of before stays one', async () => {
    const store = await upToDate(`lane = 2, due_at = ${epoch}, replayed_at = ${epoch}, schedule_from = 2`, 2)
    expect(await claimOne(store)).toMatchObject({ attempt: 3, step: 1, replay: true })
  })

  test('a claim of before is kept: nobody else gets its delivery, and it settles', async () => {
    const store = await upToDate(`lane = 1, due_at = 9e12, claim_token = 'held'`)
    expect(await store.deliveries.claim({ limit: 1, leaseMs: 1 })).toEqual([])
    const { address } = fixtures.integration()
    const claim = { deliveryId: '1', claimToken: 'held.0', integrationAddress: address, replay: false, probe: false }
    expect(await settleOne(store, claim, answered, { kind: 'delivered' })).toBe('delivered')
  })

  test.each(['delivered', 'exhausted', 'superseded'] as const)(
    'one of before that is %s stays so, and can be replayed',
    async (status) => {
      const store = await upToDate(`status = '${status}', due_at = null, lane = 1`, 2)
      expect(await statusOf(store)).toEqual({ status, attempts: 2, next: null, made: epoch })
      expect(await store.deliveries.count({ status })).toBe(1)
      expect(await store.deliveries.claim({ limit: 1, leaseMs: 1 })).toEqual([])
      await store.transaction((tx) => tx.replayDeliveries({ deliveryId: '1', limit: 1 }))
      const claim = await claimOne(store)
      expect(claim).toMatchObject({ attempt: 3, step: 1, replay: true })
      expect(await settleOne(store, claim, failed, { kind: 'exhausted' })).toBe('exhausted')
      expect(await store.deliveries.count({ status: 'exhausted' })).toBe(1)
    },
  )

  // SQLite has one writer at a time.
  if (database === 'PostgreSQL')
    test('what a process of the release before writes until the migration holds its lock is not lost', async () => {
      const engine = await empty()
      const { name } = engine.differences
      await makeSchema(engine, 11)
      await fillSchema(engine, 11, fixtures.facts())
      const waiting = async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(engine.read)
        return rows.length > 0
      }
      let migrating: Promise<void> | undefined
      await engine.transaction(async (db) => {
        await sql
          .raw(
            `insert into ${name('deliveries')} (payment_id, version, integration, status, attempted, lane, due_at)
             select payment_id, 2, integration, status, attempted, lane, due_at from ${name('deliveries')}`,
          )
          .execute(db)
        migrating = createStore(engine).migrate()
        while (!(await waiting())) await nextTurn()
      })
      await migrating
      expect(await createStore(engine).deliveries.count({ status: 'pending' })).toBe(2)
    })
})
