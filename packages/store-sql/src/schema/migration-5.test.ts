import { createHash } from 'node:crypto'
import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { fillSchema, makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration5 } from './migration-5.js'

const { answered, bodyOf, claimOne, epoch, facts, failed, hash, indexed, integration, settleOne, shop } = fixtures

const old = facts()

test('the text of migration 5 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration5(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    '1aa8d6bfa958fb60100c83c4c13c205188f8dae34b67d0683f10c28a8049fa2e',
  )
})

onBothDatabases((empty) => {
  /** A delivery of migration 4 that was attempted twice, and is due again. */
  async function upToDate() {
    const engine = await empty()
    await makeSchema(engine, 4)
    await fillSchema(engine, 4, old)
    await attempted(engine)
    const store = createStore(engine)
    await Promise.all([1, 2, 3, 4].map(() => store.migrate()))
    return store
  }

  test('a delivery of migration 4 is listed without a time of its own, and with its attempts', async () => {
    const store = await upToDate()
    const attempt = {
      startedAt: epoch,
      latencyMs: 1.5,
      status: 500,
      reason: 'status_500',
      excerpt: null,
      replay: false,
    }
    const view = {
      deliveryId: '1',
      integrationAddress: shop,
      chainId: old.chainId,
      txHash: old.txHash,
      version: 1,
      status: 'pending',
      createdAt: null,
      attempts: [attempt, attempt],
      nextAttemptAt: epoch,
    }
    await indexed(store, { txHash: hash(2) })
    expect(await store.deliveries.find('1')).toEqual(view)
    expect(await store.deliveries.list({ limit: 1, until: 1 })).toEqual([view])
    expect(await store.deliveries.count({ since: 1 })).toBe(1)
    expect(await store.deliveries.count({ since: 0 })).toBe(2)
  })

  test('it goes on where it was: the third attempt and step, then a replay begins anew', async () => {
    const store = await upToDate()
    expect(await store.deliveries.endpoints()).toEqual([])
    const claim = await claimOne(store)
    expect(claim).toMatchObject({
      deliveryId: '1',
      attempt: 3,
      step: 3,
      replay: false,
      probe: false,
      body: bodyOf('1', 1),
    })
    expect(claim.ageMs).toBeGreaterThanOrEqual(0)
    expect(await settleOne(store, claim, failed, { kind: 'exhausted' })).toBe('exhausted')
    await store.transaction((tx) => tx.replayDeliveries({ deliveryId: '1', limit: 1 }))
    const replay = await claimOne(store)
    expect(replay).toMatchObject({ attempt: 4, step: 1, replay: true })
    expect(await settleOne(store, replay, answered, { kind: 'delivered' })).toBe('delivered')
  })

  test('a claim of before is lost, and its delivery comes back', async () => {
    const engine = await empty()
    await makeSchema(engine, 4)
    await fillSchema(engine, 4, old)
    await engine.transaction((db) =>
      sql`update ${sql.raw(engine.differences.name('deliveries'))} set lane = 1, claim_token = 'old'`.execute(db),
    )
    const store = createStore(engine)
    await store.migrate()
    const claim = { deliveryId: '1', claimToken: 'old', integrationAddress: shop, replay: false, probe: false }
    expect(await settleOne(store, claim, answered, { kind: 'delivered' })).toBeNull()
    expect(await claimOne(store)).toMatchObject({ deliveryId: '1', attempt: 1, step: 1 })
  })

  test('an integration of before keeps every field, and its endpoint may begin anew', async () => {
    const store = await upToDate()
    expect(await store.integrations.list()).toEqual([integration()])
    await claimOne(store)
    await store.integrations.update(shop, { notificationUrl: 'https://new.example' })
    expect(await store.integrations.find(shop)).toEqual(integration({ notificationUrl: 'https://new.example' }))
    expect(await store.audit.list({ limit: 10 })).toEqual([])
  })
})

async function attempted({ differences: { name }, transaction }: Engine): Promise<void> {
  await transaction(async (db) => {
    for (const number of [1, 2])
      await sql`insert into ${sql.raw(name('attempts'))} (delivery_id, number, started_at, latency_ms, status, reason)
        values (1, ${number}, ${epoch}, 1.5, 500, '"status_500"')`.execute(db)
    await sql`update ${sql.raw(name('deliveries'))} set attempted = 2, lane = 1`.execute(db)
  })
}
