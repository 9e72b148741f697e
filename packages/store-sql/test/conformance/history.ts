/** Tests: history that ends, in segments. @module */
import type { HistoryRows, HistoryStore, SegmentedKind } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import { type StoreTest, withShop } from './subject.js'

const { answered, claimOne, decided, failed, findUpdate, hash, indexAll, indexed, indexPayments } = fixtures
const { insertUpdate, makeBody, nextVersion, numbered, settleOne, shop, update, waiting } = fixtures

const kinds = ['attempts', 'deliveries', 'updates'] as const satisfies readonly SegmentedKind[]

/** @throws TypeError For a store whose history never ends: it does not run this suite. */
function getHistory({ history }: Store): HistoryStore {
  if (history === null) throw new TypeError('The store keeps its history for ever.')
  return history
}

async function getRows<Kind extends SegmentedKind>(store: Store, kind: Kind, segment: number) {
  const rows: HistoryRows[Kind][] = []
  for await (const group of (await getHistory(store).part(kind, segment)).rows()) rows.push(...group)
  return rows
}

const remove = async (store: Store, kind: SegmentedKind, segment: number) =>
  (await getHistory(store).part(kind, segment)).remove()

/** Delivers the payment's newest version, with a failed attempt before. */
async function delivered(store: Store, n: number) {
  const payment = await indexed(store, { txHash: hash(n) })
  await settleOne(store, await claimOne(store), failed, { kind: 'retry', inMs: 0 })
  await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
  await store.transaction((tx) => insertUpdate(tx, decided(payment, { update: update({ id: `u${n}` }), version: 1 })))
  return payment
}

/** A closed segment 0 with three payments, and a segment 1 with one. */
async function twoSegments(store: Store) {
  for (const n of [1, 2, 3]) await delivered(store, n)
  await getHistory(store).beginSegment()
  const last = await delivered(store, 4)
  await close(store, 0)
  return last
}

/** Closes segments without pending deliveries. */
async function close(store: Store, upTo: number): Promise<void> {
  await getHistory(store).closeSegments(upTo)
  expect(await getHistory(store).pending(upTo)).toEqual([])
}

const removeAll = async (store: Store, segment: number) => {
  for (const kind of kinds) await remove(store, kind, segment)
}
export function historyTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('a new store has one segment, and each that begins ends the one before', async ({ store }) => {
    const history = getHistory(store)
    expect(await history.segments()).toEqual([{ number: 0, begunAt: 0, endedAt: null }])
    await history.beginSegment()
    await history.beginSegment()
    const [first, second, third] = await history.segments()
    expect([first, second, third].map((segment) => segment?.number)).toEqual([0, 1, 2])
    expect([first?.endedAt, second?.endedAt, third?.endedAt]).toEqual([second?.begunAt, third?.begunAt, null])
    expect(second?.begunAt).toBeGreaterThan(0)
  })

  test('rows belong to the segment that was the newest when they came, and are given whole', async ({ store }) => {
    const last = await twoSegments(store)
    const counts = (segment: number) => Promise.all(kinds.map((kind) => getHistory(store).count(kind, segment)))
    expect([...(await counts(0)), ...(await counts(1))]).toEqual([6, 3, 3, 2, 1, 1])
    await getHistory(store).beginSegment()
    await close(store, 1)
    const [delivery] = await store.deliveries.list({ limit: 9, txHash: hash(4) })
    const deliveryId = delivery?.deliveryId
    const body = new TextDecoder().decode(makeBody(last.id, 1))
    expect(await getRows(store, 'deliveries', 1)).toEqual([
      {
        ...{ deliveryId, paymentId: last.id, chainId: 1, txHash: hash(4), integrationAddress: shop, version: 1 },
        createdAt: delivery?.createdAt,
        status: 'delivered',
        body,
      },
    ])
    expect(await getRows(store, 'attempts', 1)).toEqual([
      { deliveryId, number: 1, ...failed },
      { deliveryId, number: 2, ...answered },
    ])
    expect(await getRows(store, 'updates', 1)).toEqual([
      {
        ...{ seq: expect.any(Number), id: 'u4', paymentId: last.id, version: 1, fingerprint: `0x${'f1'.repeat(16)}` },
        ...{ outcome: 'applied', reason: null, update: null },
      },
    ])
  })

  test('removed rows are gone, and those of other segments and all payments stay', async ({ store }) => {
    const last = await twoSegments(store)
    const payments = await store.payments.list({ integrationAddress: shop, limit: 9 })
    await removeAll(store, 0)
    expect(await Promise.all(kinds.map((kind) => getHistory(store).count(kind, 0)))).toEqual([0, 0, 0])
    expect(await store.deliveries.list({ limit: 9 })).toMatchObject([{ txHash: hash(4), attempts: [{}, {}] }])
    expect(await store.deliveries.count({})).toBe(1)
    expect(await store.payments.list({ integrationAddress: shop, limit: 9 })).toEqual(payments)
    expect(await store.payments.snapshot(last.id, 1)).toEqual(makeBody(last.id, 1))
    expect((await store.console.deliveries({ limit: 9 })).rows).toMatchObject([{ txHash: hash(4) }])
    const found = await store.transaction((tx) => Promise.all(['u1', 'u4'].map((id) => findUpdate(tx, id))))
    expect(found).toMatchObject([null, { outcome: 'applied' }])
  })

  test('restored rows are those that were removed, and a repeated restore changes nothing', async ({ store }) => {
    await twoSegments(store)
    const before = await store.deliveries.list({ limit: 9 })
    const getAll = <Kind extends SegmentedKind>(kind: Kind) => getRows(store, kind, 0)
    const all = () => Promise.all([getAll('deliveries'), getAll('attempts'), getAll('updates')])
    const [deliveries, attempts, updates] = await all()
    await removeAll(store, 0)
    const { restore } = getHistory(store)
    await restore('deliveries', 0, deliveries)
    await restore('attempts', 0, attempts)
    await restore('updates', 0, updates)
    await restore('deliveries', 0, deliveries)
    expect(await all()).toEqual([deliveries, attempts, updates])
    expect(await store.deliveries.list({ limit: 9 })).toEqual(before)
    expect(await store.payments.snapshot(before[0] === undefined ? '' : '1', 1)).toEqual(makeBody('1', 1))
    await removeAll(store, 0)
    expect(await store.deliveries.count({})).toBe(1)
  })

  test('a delivery of a closed segment is not replayed, alone or with others', async ({ store }) => {
    await twoSegments(store)
    const [first, , , last] = await store.deliveries.list({ limit: 9 })
    const replay = (deliveryId?: string) =>
      store.transaction((tx) => tx.replayDeliveries({ status: 'delivered', deliveryId, limit: 9 }))
    expect(await replay(first?.deliveryId)).toEqual({ replayed: 0, inFlight: 0, lastId: null })
    expect(await replay()).toEqual({ replayed: 1, inFlight: 0, lastId: last?.deliveryId })
  })

  test('a closed segment leaves only when its pending deliveries are delivered', async ({ store }) => {
    const history = getHistory(store)
    await indexed(store, { txHash: hash(1) })
    await history.beginSegment()
    await indexed(store, { txHash: hash(2) })
    await history.closeSegments(0)
    expect(await history.pending(0)).toEqual([{ segment: 0, integrationAddress: shop, count: 1 }])
    const claim = await claimOne(store)
    expect(claim.txHash).toBe(hash(1))
    await settleOne(store, claim, answered, { kind: 'delivered' })
    expect(await history.pending(0)).toEqual([])
    await expect(remove(store, 'deliveries', 0)).rejects.toThrow('remove them before their deliveries')
    await removeAll(store, 0)
    expect(await claimOne(store)).toMatchObject({ txHash: hash(2) })
  })

  test('an open segment gives no deliveries, and the newest cannot be closed', async ({ store }) => {
    const history = getHistory(store)
    await history.beginSegment()
    for (const kind of ['attempts', 'deliveries'] as const)
      await expect(history.part(kind, 0)).rejects.toThrow('close it first')
    await expect(history.closeSegments(1)).rejects.toThrow('is the newest')
    await expect(history.count('updates', 7)).rejects.toThrow('no history segment 7')
    for (const kind of ['deliveries', 'attempts'] as const)
      await expect(history.restore(kind, 0, [])).rejects.toThrow('is not closed')
    await expect(history.restore('updates', 1, [])).rejects.toThrow('is the newest')
  })

  test('an update that waits stays, even if it is decided before the others are removed', async ({ store }) => {
    const history = getHistory(store)
    const payment = await indexed(store)
    await store.transaction(async (tx) => {
      for (const id of ['a', 'b']) await insertUpdate(tx, waiting({ id }))
      await insertUpdate(tx, decided(payment, { update: update({ id: 'c' }) }))
    })
    await history.beginSegment()
    const part = await history.part('updates', 0)
    await store.transaction((tx) =>
      tx.settleUpdates([{ id: 'a', paymentId: payment.id, outcome: 'rejected', reason: 'no', version: null }]),
    )
    const given: unknown[] = []
    for await (const rows of part.rows()) given.push(...rows.map(({ id }) => id))
    expect(given).toEqual(['c'])
    await part.remove()
    const left = () => store.transaction((tx) => Promise.all(['a', 'b', 'c'].map((id) => findUpdate(tx, id))))
    expect(await left()).toMatchObject([{ outcome: 'rejected' }, { outcome: 'waiting' }, null])
    expect(await getRows(store, 'updates', 0)).toMatchObject([{ id: 'a', update: update({ id: 'a' }), reason: 'no' }])
  })

  test('more rows than one group has are given once each, and all of them leave', async ({ store }) => {
    const history = getHistory(store)
    await store.transaction(async (tx) => {
      const stored = await indexPayments(tx, numbered(2_300, 1))
      await tx.insertUpdates(stored.map((each, n) => decided(each, { update: update({ id: `u${n}` }) })))
    })
    const claims = await store.deliveries.claim({ limit: 2_300, leaseMs: 60_000 })
    for (let from = 0; from < claims.length; from += 100)
      await store.deliveries.settle(
        claims.slice(from, from + 100).map((claim) => ({ claim, attempt: answered, verdict: { kind: 'delivered' } })),
        fixtures.indifferent,
      )
    await history.beginSegment()
    await close(store, 0)
    for (const kind of kinds) {
      const rows = await getRows(store, kind, 0)
      const getKey = (row: HistoryRows[SegmentedKind]) => ('seq' in row ? row.seq : row.deliveryId)
      expect([rows.length, new Set(rows.map(getKey)).size], kind).toEqual([2_300, 2_300])
      await remove(store, kind, 0)
      expect(await history.count(kind, 0), kind).toBe(0)
    }
  })

  test('no id is assigned twice, even when everything before was removed', async ({ store }) => {
    const history = getHistory(store)
    await delivered(store, 1)
    const ids = (await store.deliveries.list({ limit: 9 })).map(({ deliveryId }) => Number(deliveryId))
    await history.beginSegment()
    await close(store, 0)
    await removeAll(store, 0)
    await history.beginSegment()
    await delivered(store, 2)
    ids.push(...(await store.deliveries.list({ limit: 9 })).map(({ deliveryId }) => Number(deliveryId)))
    expect(ids[1]).toBeGreaterThan(ids[0] ?? Number.NaN)
    expect(await history.count('updates', 2)).toBe(1)
  })

  test('pages, streams and times of deliveries cross segments', async ({ store }) => {
    const history = getHistory(store)
    for (const n of [1, 2, 3, 4, 5, 6]) {
      if (n % 2 === 0) await history.beginSegment()
      await delivered(store, n)
    }
    await close(store, 0)
    await removeAll(store, 0)
    const all = (await store.deliveries.list({ limit: 9 })).map(({ txHash }) => txHash)
    expect(all).toEqual([2, 3, 4, 5, 6].map(hash))
    const first = await store.console.deliveries({ limit: 2, integrationAddress: shop })
    const second = await store.console.deliveries({ limit: 9, beforeId: first.next ?? '' })
    expect([...first.rows, ...second.rows].map(({ txHash }) => txHash)).toEqual([6, 5, 4, 3, 2].map(hash))
    const since = (await history.segments())[2]?.begunAt ?? 0
    const late = await store.console.deliveries({ limit: 9, since })
    expect(late.rows.map(({ txHash }) => txHash).slice(0, 3)).toEqual([6, 5, 4].map(hash))
    const newest = (await store.deliveries.newestId({})) ?? ''
    const stream = { integrationAddress: shop, afterId: '0', upToId: newest, limit: 9 }
    expect((await store.deliveries.stream(stream)).map(({ txHash }) => txHash)).toEqual([2, 3, 4, 5, 6].map(hash))
  })

  test('segments that begin while two stores write have each version and delivery once', async ({ twoStores }) => {
    const stores = await twoStores()
    const [store] = stores
    // Many versions in one statement: the first ones may come before a segment begins, and the last ones after.
    const writes = stores.flatMap((each, place) =>
      Array.from({ length: 5 }, async (_, n) => {
        const first = 1_000 * (5 * place + n)
        const [payment] = await indexAll(each, numbered(200, first))
        if (payment !== undefined) await nextVersion(each, payment)
      }),
    )
    const begins = [0, 1, 2].map((n) => getHistory(stores[n % 2] ?? store).beginSegment())
    await Promise.all([...writes, ...begins])
    const segments = await getHistory(store).segments()
    expect(segments).toHaveLength(4)
    const counts = await Promise.all(segments.map(({ number }) => getHistory(store).count('deliveries', number)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2_010)
    const claims = await store.deliveries.claim({ limit: 3_000, leaseMs: 60_000 })
    expect(new Set(claims.map(({ txHash, version }) => `${txHash} ${version}`)).size).toBe(2_010)
  })

  test('pending deliveries are given up as exhausted, except those in flight', async ({ store }) => {
    const history = getHistory(store)
    await indexAll(store, numbered(3, 1))
    const claim = await claimOne(store)
    await history.beginSegment()
    await indexed(store, { txHash: hash(4) })
    await history.closeSegments(0)
    expect(await history.exhaustPending(0)).toBe(2)
    expect(await history.pending(0)).toMatchObject([{ count: 1 }])
    expect(await settleOne(store, claim, answered, { kind: 'delivered' })).toBe('delivered')
    const statuses = (await store.deliveries.list({ limit: 9 })).map(({ status }) => status).toSorted()
    expect(statuses).toEqual(['delivered', 'exhausted', 'exhausted', 'pending'])
    expect(await history.exhaustPending(0)).toBe(0)
    expect(await claimOne(store)).toMatchObject({ txHash: hash(4) })
  })

  test('rows of another database or segment are rejected whole', async ({ store }) => {
    const last = await twoSegments(store)
    const [deliveries, attempts] = [await getRows(store, 'deliveries', 0), await getRows(store, 'attempts', 0)]
    await removeAll(store, 0)
    const { restore, count } = getHistory(store)
    const [first, ...rest] = deliveries
    if (first === undefined) throw new Error('no delivery')
    await expect(restore('attempts', 0, attempts)).rejects.toThrow('have no stored payment or delivery')
    for (const change of [{ paymentId: last.id }, { txHash: hash(99) }, { chainId: 7 }])
      await expect(restore('deliveries', 0, [...rest, { ...first, ...change }])).rejects.toThrow(RangeError)
    const [late] = await store.deliveries.list({ limit: 1, txHash: hash(4) })
    const ofLate = { ...first, deliveryId: late?.deliveryId ?? '' }
    await expect(restore('deliveries', 0, [ofLate])).rejects.toThrow('is not of segment 0')
    expect(await count('deliveries', 0)).toBe(0)
  })
}
