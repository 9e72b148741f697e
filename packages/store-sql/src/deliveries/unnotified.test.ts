import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { createStore } from '../create-store.js'

const { hash, indexAll, indexed, integration, otherShop, primary, shop } = fixtures

onBothDatabases((empty) => {
  const start = async () => {
    const store = createStore(await empty())
    await store.migrate()
    await store.integrations.insert(integration())
    return store
  }

  test('a version without a delivery is in no list, count or stream, and its bytes can be read', async () => {
    const store = await start()
    const silent = await indexed(store, { txHash: hash(1), integrationAddress: otherShop })
    await indexed(store, { txHash: hash(2) })
    const last = await indexed(store, { txHash: hash(3), integrationAddress: otherShop })
    const { deliveries, console: reads } = store
    const [own] = await deliveries.list({ limit: 10 })
    const id = own?.deliveryId ?? ''
    expect(await deliveries.list({ limit: 10 })).toMatchObject([{ txHash: hash(2), integrationAddress: shop }])
    expect([await deliveries.newestId({}), await deliveries.count({})]).toEqual([id, 1])
    for (const neighbour of [Number(id) - 1, Number(id) + 1]) {
      expect(await deliveries.find(String(neighbour))).toBeNull()
      expect(await reads.deliveriesById([String(neighbour)])).toEqual([])
      expect(await store.transaction((tx) => tx.replayDeliveries({ deliveryId: String(neighbour), limit: 1 }))).toEqual(
        { ...{ replayed: 0, inFlight: 0, lastId: null } },
      )
    }
    expect((await reads.deliveries({ limit: 10 })).rows.map(({ deliveryId }) => deliveryId)).toEqual([id])
    expect((await reads.newest(10)).deliveries.map(({ deliveryId }) => deliveryId)).toEqual([id])
    expect(await reads.deliveriesByPayment(silent.id)).toEqual([])
    for (const [address, count] of [[shop, 1] as const, [otherShop, 0] as const])
      expect(
        await deliveries.stream({ integrationAddress: address, afterId: '0', upToId: '9', limit: 9 }),
      ).toHaveLength(count)
    expect(await store.payments.snapshot(last.id, 1)).toEqual(fixtures.makeBody(last.id, 1))
  })

  test('a page without a filter examines 2,000 versions, whoever is notified of them', async () => {
    const store = await start()
    await indexed(store, { txHash: hash(1) })
    const silent = Array.from({ length: 2_500 }, (_, n) =>
      primary({ txHash: hash(n + 2), integrationAddress: otherShop }),
    )
    await indexAll(store, silent)
    const first = await store.console.deliveries({ limit: 10 })
    expect(first).toMatchObject({ rows: [], isCut: true, next: '502' })
    const second = await store.console.deliveries({ limit: 10, beforeId: first.next ?? undefined })
    expect(second).toMatchObject({ rows: [{ txHash: hash(1) }], isCut: false, next: null })
    expect((await store.console.newest(300)).deliveries).toEqual([])
  })
})
