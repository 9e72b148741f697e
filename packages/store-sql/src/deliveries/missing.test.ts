import type { DeliveryView } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'

const { answered, claimOne, failed, hash, indexAll, indexed, nextVersion, numbered } = fixtures
const { otherShop, settleOne, shop } = fixtures

const statuses = ['pending', 'delivered', 'exhausted', 'superseded', 'missing'] as const

onBothDatabases((empty) => {
  async function start() {
    const engine = await empty()
    const store = createStore(engine)
    await store.migrate()
    await fixtures.insertIntegration(store)
    return { engine, store }
  }

  const all = (store: Store) => store.deliveries.list({ limit: 100 })
  const getStatuses = (views: readonly DeliveryView[]) => views.map(({ version, status }) => [version, status])
  /** What a copy of the database has whose outbox was read too late. */
  const emptyOutbox = ({ transaction, dialect }: Engine) =>
    transaction((db) => sql`delete from ${sql.raw(dialect.name('outbox'))}`.execute(db))

  /** One delivery in each status but missing, each of its own payment, and a version without a delivery. */
  async function oneOfEach(store: Store): Promise<void> {
    await indexed(store, { txHash: hash(1) })
    await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
    await indexed(store, { txHash: hash(2) })
    await settleOne(store, await claimOne(store), { ...failed, status: 410 }, { kind: 'exhausted' })
    const third = await indexed(store, { txHash: hash(3) })
    const claim = await claimOne(store)
    await nextVersion(store, third)
    await settleOne(store, claim, failed, { kind: 'retry', inMs: 0 })
    await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
    await indexed(store, { txHash: hash(4) })
    // A malformed answer may have the status of a success.
    const malformed = { ...failed, status: 200, reason: 'malformed_answer' }
    await settleOne(store, await claimOne(store), malformed, { kind: 'retry', inMs: 60_000 })
    await indexed(store, { txHash: hash(5) })
    await indexed(store, { txHash: hash(6), integrationAddress: otherShop })
  }

  test('a delivery is missing when it is not in the outbox, has no end, and no success is logged', async () => {
    const { engine, store } = await start()
    await oneOfEach(store)
    const before = getStatuses(await all(store))
    const ended = ['delivered', 'exhausted', 'superseded', 'delivered']
    expect(before.map(([, status]) => status)).toEqual([...ended, 'pending', 'pending'])
    expect(await store.deliveries.findMissing({ limit: 100 })).toMatchObject({ examined: 7, missing: 0 })
    await emptyOutbox(engine)
    const after = await all(store)
    expect(after.map(({ status }) => status)).toEqual([...ended, 'missing', 'missing'])
    expect(await store.deliveries.findMissing({ limit: 100 })).toMatchObject({ examined: 7, missing: 2 })
    for (const { deliveryId, status } of after)
      expect(await store.deliveries.find(deliveryId)).toMatchObject({ deliveryId, status })
    // Every list and count agrees with the status of each.
    for (const status of statuses) {
      const own = after.filter((each) => each.status === status)
      expect(await store.deliveries.list({ status, limit: 100 }), status).toEqual(own)
      expect(await store.deliveries.count({ status }), status).toBe(own.length)
      for (const filter of [{ status }, { status, integrationAddress: fixtures.shop }])
        expect((await store.console.deliveries({ ...filter, limit: 100 })).rows, status).toEqual([...own].reverse())
      const { rows } = await store.console.deliveries({ status, txHash: hash(5), limit: 100 })
      expect(rows, status).toMatchObject(status === 'missing' ? [{ txHash: hash(5) }] : [])
    }
  })

  test('a part examines as many versions as asked, from the newest down, and names the lowest', async () => {
    const { engine, store } = await start()
    await fixtures.indexAll(store, numbered(7))
    await emptyOutbox(engine)
    const ids = (await all(store)).map(({ deliveryId }) => deliveryId)
    let beforeId: string | undefined
    for (const [examined, lowest] of [
      [3, 4],
      [3, 1],
      [1, 0],
    ] as const) {
      const part = await store.deliveries.findMissing({ beforeId, limit: 3 })
      expect(part).toEqual({ examined, missing: examined, lowestId: ids[lowest] })
      beforeId = part.lowestId ?? undefined
    }
    const rest = await store.deliveries.findMissing({ beforeId, limit: 3 })
    expect(rest).toEqual({ examined: 0, missing: 0, lowestId: null })
  })

  test('missing deliveries are replayed by their status, and delivered once more', async () => {
    const { engine, store } = await start()
    await oneOfEach(store)
    await emptyOutbox(engine)
    const request = { status: 'missing', limit: 100 } as const
    expect(await store.transaction((tx) => tx.replayDeliveries(request))).toMatchObject({ replayed: 2, inFlight: 0 })
    expect(await store.deliveries.findMissing({ limit: 100 })).toMatchObject({ missing: 0 })
    expect(await store.deliveries.count({ status: 'pending' })).toBe(2)
    for (const attempt of [2, 1]) {
      const claim = await claimOne(store)
      expect(claim).toMatchObject({ attempt, step: 1, replay: true })
      expect(await settleOne(store, claim, { ...answered, replay: true }, { kind: 'delivered' })).toBe('delivered')
    }
    expect(await store.deliveries.count({ status: 'delivered' })).toBe(4)
  })

  test('a replay of a delivered one that a copy lacks leaves it delivered', async () => {
    const { engine, store } = await start()
    await indexed(store)
    const claim = await claimOne(store)
    await settleOne(store, claim, answered, { kind: 'delivered' })
    await store.transaction((tx) => tx.replayDeliveries({ deliveryId: claim.deliveryId, limit: 1 }))
    await emptyOutbox(engine)
    expect((await store.deliveries.find(claim.deliveryId))?.status).toBe('delivered')
  })

  test('a segment with a missing delivery is not closed; once closed its deliveries need no logged attempt', async () => {
    const { engine, store } = await start()
    const { history } = store
    if (history === null) throw new Error('The store has history.')
    await indexed(store)
    await emptyOutbox(engine)
    await history.beginSegment()
    await indexed(store, { txHash: hash(9) })
    await expect(history.closeSegments(0)).rejects.toThrow('Run deliveries check --repair first.')
    await store.transaction((tx) => tx.replayDeliveries({ status: 'missing', limit: 100 }))
    for (let left = 2; left > 0; left -= 1)
      await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
    await history.closeSegments(0)
    await (await history.part('attempts', 0)).remove()
    expect(getStatuses(await all(store))).toEqual(Array(2).fill([1, 'delivered']))
    expect(await store.deliveries.count({ status: 'delivered' })).toBe(2)
    expect(await store.deliveries.findMissing({ limit: 100 })).toMatchObject({ examined: 1, missing: 0 })
  })

  test('a version without a delivery is in no list, count or stream, and its bytes can be read', async () => {
    const { store } = await start()
    const silent = await indexed(store, { txHash: hash(1), integrationAddress: otherShop })
    await indexed(store, { txHash: hash(2) })
    const last = await indexed(store, { txHash: hash(3), integrationAddress: otherShop })
    const { deliveries, console: reads } = store
    const [own] = await deliveries.list({ limit: 10 })
    const id = own?.deliveryId ?? ''
    expect(await deliveries.list({ limit: 10 })).toMatchObject([{ txHash: hash(2), integrationAddress: shop }])
    expect([await deliveries.newestId({}), await deliveries.count({})]).toEqual([id, 1])
    for (const neighbor of [Number(id) - 1, Number(id) + 1]) {
      expect(await deliveries.find(String(neighbor))).toBeNull()
      expect(await reads.deliveriesById([String(neighbor)])).toEqual([])
      const replayed = await store.transaction((tx) => tx.replayDeliveries({ deliveryId: String(neighbor), limit: 1 }))
      expect(replayed).toEqual({ replayed: 0, inFlight: 0, lastId: null })
    }
    expect((await reads.deliveries({ limit: 10 })).rows.map(({ deliveryId }) => deliveryId)).toEqual([id])
    expect((await reads.newest(10)).deliveries.map(({ deliveryId }) => deliveryId)).toEqual([id])
    expect(await reads.deliveriesByPayment(silent.id)).toEqual([])
    const range = { afterId: '0', upToId: '9', limit: 9 }
    expect(await deliveries.stream({ integrationAddress: shop, ...range })).toHaveLength(1)
    expect(await deliveries.stream({ integrationAddress: otherShop, ...range })).toEqual([])
    expect(await store.payments.snapshot(last.id, 1)).toEqual(fixtures.makeBody(last.id, 1))
  })

  test('a page without a filter examines 2,000 versions, whoever is notified of them', async () => {
    const { store } = await start()
    await indexed(store, { txHash: hash(1) })
    await indexAll(store, numbered(2_500, 2, { integrationAddress: otherShop }))
    const first = await store.console.deliveries({ limit: 10 })
    expect(first).toMatchObject({ rows: [], isCut: true, next: '502' })
    const second = await store.console.deliveries({ limit: 10, beforeId: first.next ?? undefined })
    expect(second).toMatchObject({ rows: [{ txHash: hash(1) }], isCut: false, next: null })
    expect((await store.console.newest(300)).deliveries).toEqual([])
  })
})
