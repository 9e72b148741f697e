import { createMemoryVersionStore } from '@payment-integration/version-store'
import { expect, test } from 'vitest'
import { type FetchFunction, type ReconcileCheckpoint, reconcile } from '../src/exports/index.js'
import { catchError } from './fixtures.js'
import { paymentHash } from './service.js'
import { range, startShop } from './shop.js'

const neighbor = `0x${'9e'.repeat(20)}`
const lookUps = (requests: readonly string[]) => requests.flatMap((path) => /\/tx\/137\/(0x\w+)$/.exec(path)?.[1] ?? [])
/** A fetch that gets this answer to the look-up of the `n`th payment. */
const answering =
  (n: number, status: number, error: string): FetchFunction =>
  async (url, init) =>
    url.endsWith(paymentHash(n)) ? Response.json({ error }, { status }) : fetch(url, init)

test('a transaction of several payments is reported with their count and memos, though the read API shows one', async () => {
  await using shop = await startShop(1)
  await shop.service.indexTogether(1, { memo: 'order 1' }, { memo: 'order 2' }, { memo: 'not ours', of: neighbor })
  await shop.service.index(2)
  const found = await shop.reconcile({ until: 'end', legacy: shop.service.legacy() })
  expect(found).toMatchObject({ repaired: 3, missing: { count: 3 } })
  expect(found.severalPayments).toEqual({
    count: 1,
    samples: [{ chainId: '137', txHash: paymentHash(1), payments: 3, memos: ['order 1', 'order 2', 'not ours'] }],
    omitted: 0,
  })
  expect(found.unreadTransactions).toEqual({ count: 0, samples: [], omitted: 0 })
  expect((await shop.client.payments.list()).payments.map(({ memo }) => memo)).toContain('order 1')
  expect((await shop.client.payments.list()).payments).toHaveLength(3)
})

test('each compared payment is looked up once: known, stale, missing, and failed now or before', async () => {
  await using shop = await startShop(5)
  for (const n of [0, 1]) await shop.deliver(await shop.snapshot(n))
  await shop.service.update(1, 'success')
  shop.reject.add(2).add(3)
  const { checkpoint } = await shop.reconcile({ until: 'end', legacy: shop.service.legacy(), pageSize: 2 })
  expect(lookUps(shop.service.requests).sort()).toEqual(range(5).map(paymentHash).sort())
  shop.service.requests.length = 0
  shop.reject.delete(3)
  await shop.reconcile({ until: 'end', legacy: shop.service.legacy(), pageSize: 2, checkpoint })
  expect(lookUps(shop.service.requests).sort()).toEqual(range(5).map(paymentHash).sort())
})

test('a failed look-up is repeated by the next run, for a payment of any age, and not after it succeeded', async () => {
  await using shop = await startShop(8)
  await shop.service.indexTogether(8, { memo: 'order 1' }, { memo: 'order 2' })
  const options = { pageSize: 2, overlapMs: 0 }
  const failing = shop.service.legacy({ fetch: answering(8, 500, 'Internal error') })
  const first = await shop.reconcile({ ...options, legacy: failing })
  expect(first).toMatchObject({ severalPayments: { count: 0 }, unreadTransactions: { count: 1 } })
  const without = await shop.reconcile({ ...options, checkpoint: first.checkpoint })
  shop.service.requests.length = 0
  const again = { ...options, legacy: shop.service.legacy() }
  const second = await shop.reconcile({ ...again, checkpoint: without.checkpoint })
  expect(second).toMatchObject({ pages: 1, severalPayments: { count: 1 }, unreadTransactions: { count: 0 } })
  expect(lookUps(shop.service.requests).sort()).toEqual([0, 1, 8].map(paymentHash).sort())
  const third = await shop.reconcile({ ...again, checkpoint: second.checkpoint })
  expect(third).toMatchObject({ severalPayments: { count: 0 } })
})

test('failed look-ups beyond the list of the checkpoint are repeated, because coveredTo stays before them', async () => {
  await using shop = await startShop(150)
  const rejecting: FetchFunction = async () => Response.json({ error: 'Unauthorized' }, { status: 401 })
  const first = await shop.reconcile({ legacy: shop.service.legacy({ fetch: rejecting }), pageSize: 10 })
  expect(first.checkpoint.unread).toHaveLength(100)
  const legacy = shop.service.legacy()
  const second = await shop.reconcile({ legacy, pageSize: 10, overlapMs: 0, checkpoint: first.checkpoint })
  expect(lookUps(shop.service.requests).sort()).toEqual(range(150).map(paymentHash).sort())
  expect(second).toMatchObject({ unreadTransactions: { count: 0 }, checkpoint: { unread: [] } })
})

test('a transaction that the legacy API no longer has is unread, and not looked up again', async () => {
  await using shop = await startShop(6)
  const gone = shop.service.legacy({ fetch: answering(5, 404, 'Transaction not found') })
  const first = await shop.reconcile({ legacy: gone, pageSize: 2 })
  expect(first).toMatchObject({ unreadTransactions: { count: 1 }, checkpoint: { unread: [] } })
  shop.service.requests.length = 0
  const { checkpoint } = first
  await shop.reconcile({ legacy: shop.service.legacy(), pageSize: 2, overlapMs: 0, checkpoint })
  expect(lookUps(shop.service.requests)).not.toContain(paymentHash(5))
})

test('a checkpoint of an earlier package version, without look-ups, is accepted', async () => {
  await using shop = await startShop(1)
  const { unread: _, ...earlier } = (await shop.reconcile()).checkpoint
  const checkpoint = earlier as ReconcileCheckpoint
  expect((await shop.reconcile({ legacy: shop.service.legacy(), checkpoint })).checkpoint.unread).toEqual([])
  const wrong = { ...earlier, unread: [{ chainId: 137 }] } as never
  expect(await catchError(shop.reconcile({ checkpoint: wrong }))).toBeInstanceOf(TypeError)
})

test('without a legacy client no transaction is looked up, and the findings are null', async () => {
  await using shop = await startShop(1)
  const found = await shop.reconcile({ until: 'end' })
  expect([found.severalPayments, found.unreadTransactions]).toEqual([null, null])
  expect(lookUps(shop.service.requests)).toEqual([])
})

test('a dry run against an empty store looks up all payments of a period, and changes nothing', async () => {
  await using shop = await startShop()
  await shop.service.indexTogether(0, { memo: 'order 1' }, { memo: 'order 2' })
  await shop.reconcile({ until: 'end' })
  const empty = { from: createMemoryVersionStore(), handle: shop.handle, dryRun: true }
  const found = await reconcile(shop.client, { ...empty, until: 'end', legacy: shop.service.legacy() })
  expect(found).toMatchObject({ repaired: 0, severalPayments: { count: 1 } })
  expect(shop.effects).toEqual(['0@1'])
})

test('a failed look-up does not stop the run, and its transaction is reported as unread', async () => {
  await using shop = await startShop(3)
  await shop.service.indexTogether(3, { memo: 'order 1' }, { memo: 'order 2' })
  const failing = shop.service.legacy({ fetch: answering(1, 500, 'Internal error') })
  const found = await shop.reconcile({ until: 'end', legacy: failing })
  expect(found).toMatchObject({ stopped: 'end', repaired: 4, failed: { count: 0 } })
  expect(found.severalPayments).toMatchObject({ count: 1, samples: [{ txHash: paymentHash(3) }] })
  expect(found.unreadTransactions).toMatchObject({
    count: 1,
    samples: [{ chainId: '137', txHash: paymentHash(1), error: { code: 'ERR_SERVICE_UNAVAILABLE' } }],
  })
})

test.each([
  ['an unavailable service', 503, { error: 'Service temporarily unavailable' }, 'ERR_SERVICE_UNAVAILABLE'],
  ['a rejected key', 401, { error: 'Unauthorized' }, 'ERR_UNAUTHORIZED'],
])('with %s the run makes few look-ups and reports all transactions as unread', async (_, status, body, code) => {
  await using shop = await startShop(30)
  let requests = 0
  const rejecting: FetchFunction = async () => {
    requests += 1
    return Response.json(body, { status })
  }
  const legacy = shop.service.legacy({ fetch: rejecting, maxRetries: 0 })
  const found = await shop.reconcile({ until: 'end', pageSize: 5, legacy, samples: 30 })
  expect(found).toMatchObject({ repaired: 30, unreadTransactions: { count: 30 } })
  for (const { error } of found.unreadTransactions?.samples ?? []) expect(error).toMatchObject({ code })
  expect(requests).toBeGreaterThan(0)
  expect(requests).toBeLessThanOrEqual(8)
})

test('at most four look-ups are in flight, and the findings keep the order of the list', async () => {
  await using shop = await startShop()
  for (const n of range(12)) await shop.service.indexTogether(n, { memo: `a${n}` }, { memo: `b${n}` })
  let [open, most, requests] = [0, 0, 0]
  let letFirstGo = () => {}
  const held = new Promise<void>((resolve) => {
    letFirstGo = resolve
  })
  const counting: FetchFunction = async (url, init) => {
    requests += 1
    open += 1
    most = Math.max(most, open)
    // The first look-up is answered last of the four.
    if (requests === 1) await held
    const response = await fetch(url, init)
    open -= 1
    if (requests === 4) letFirstGo()
    return response
  }
  const { severalPayments } = await shop.reconcile({ until: 'end', legacy: shop.service.legacy({ fetch: counting }) })
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(4)
  expect(severalPayments?.samples.map(({ memos }) => memos[0])).toEqual(range(12).map((n) => `a${n}`))
})

test('an abort during a look-up aborts the run', async () => {
  await using shop = await startShop(3)
  const controller = new AbortController()
  const aborting: FetchFunction = async (url, init) => {
    controller.abort()
    return fetch(url, init)
  }
  const legacy = shop.service.legacy({ fetch: aborting })
  const run = shop.reconcile({ until: 'end', legacy, signal: controller.signal })
  expect(await catchError(run)).toMatchObject({ code: 'ERR_ABORTED' })
})
