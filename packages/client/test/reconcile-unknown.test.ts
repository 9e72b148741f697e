import { expect, test } from 'vitest'
import type { ListingStore, StoredKey } from '../src/exports/index.js'
import { integrationAddress } from './fixtures.js'
import { paymentHash, startService, timeOf } from './service.js'
import { numberOf, openShop, range } from './shop.js'

/** A store that lists these payments besides what it is. */
function listing<Tx>(
  store: Pick<ListingStore<Tx>, 'advance' | 'current'>,
  keys: readonly StoredKey[],
): ListingStore<Tx> {
  return {
    advance: store.advance,
    current: store.current,
    list: async function* () {
      yield* keys
    },
  }
}

const key = (n: number, chainId = '137') => ({ integrationAddress, chainId, txHash: paymentHash(n) })

test('what the store has and the service has not is looked up, and named with what the service said', async () => {
  await using service = await startService()
  await service.index(...range(3))
  await service.index(50)
  await service.indexOn(10, 50)
  const shop = openShop(service)
  const keys = [...range(3).map((n) => key(n)), key(7), key(1, '1'), key(50, '1'), { ...key(0), txHash: 'not a hash' }]
  const found = await shop.client.reconcile({ from: listing(shop.store, keys), handle: shop.handle, until: 'end' })
  expect(found.unknown?.samples.map(({ chainId, txHash, reason }) => [chainId, txHash, reason])).toEqual([
    ['137', paymentHash(7), 'not_found'],
    ['1', paymentHash(1), 'other_chain'],
    ['1', paymentHash(50), 'ambiguous'],
    ['137', 'not a hash', 'not_found'],
  ])
  expect(found).toMatchObject({ unknown: { count: 4, omitted: 0 }, missing: { count: 5 } })
  expect(service.asked.filter((path) => path.includes(`/payments/`))).toHaveLength(3)
})

test('the store of the receiver lists by itself what it holds', async () => {
  await using service = await startService()
  await service.index(...range(3))
  const shop = openShop(service)
  await shop.reconcile()
  await shop.store.advance({ ...key(7), version: 1 }, () => undefined)
  await shop.store.advance({ ...key(8), integrationAddress: `0x${'ee'.repeat(20)}`, version: 1 }, () => undefined)
  const found = await shop.reconcile({ until: 'end' })
  expect(found).toMatchObject({ missing: { count: 0 }, unknown: { count: 1, samples: [{ txHash: paymentHash(7) }] } })
})

test('a payment that moved out of the way of the walk is there after all, and is compared', async () => {
  await using service = await startService()
  await service.index(...range(6))
  const shop = openShop(service)
  const keys = range(6).map((n) => key(n))
  service.beforeEachAnswer(async (request) => {
    // Between the first page and the second, a reorganisation moves a payment before the pages that were read.
    if (request === 2) await service.move(5, new Date(timeOf(0).getTime() + 5_000))
  })
  const found = await shop.client.reconcile({
    from: listing(shop.store, keys),
    handle: shop.handle,
    until: 'end',
    pageSize: 2,
  })
  expect(found).toMatchObject({ unknown: { count: 0 }, repaired: 6 })
  expect(shop.effects.toSorted()).toEqual(range(6).map((n) => `${n}@1`))
})

test('a payment that a delivery adds during the run is not taken for unknown', async () => {
  await using service = await startService()
  await service.index(...range(2))
  const shop = openShop(service)
  const stored: StoredKey[] = []
  service.beforeEachAnswer(async () => void stored.push(key(9)))
  const from = listing(shop.store, stored)
  expect((await shop.client.reconcile({ from, handle: shop.handle, until: 'end' })).unknown).toMatchObject({ count: 0 })
})

test.each([
  ['known', { until: 'known' as const }],
  ['a date', { until: timeOf(0) }],
  ["'end', stopped before it", { until: 'end' as const, maxPages: 1 }],
])('nothing is looked for until %s: the answer is null', async (_case, options) => {
  await using service = await startService()
  await service.index(...range(4))
  const shop = openShop(service)
  const from = listing(shop.store, [key(77)])
  await shop.client.reconcile({ from, handle: shop.handle, until: 'end' })
  const found = await shop.client.reconcile({ from, handle: shop.handle, pageSize: 2, ...options })
  expect(found.unknown).toBeNull()
})

test('a version that the service has lost is counted as newer', async () => {
  await using service = await startService()
  await service.index(...range(2))
  const shop = openShop(service)
  await shop.deliver({ ...(await shop.snapshot(1)), version: 9 })
  const found = await shop.reconcile()
  expect(found).toMatchObject({ newer: 1, repaired: 1 })
  expect(await shop.store.current(await shop.snapshot(1))).toBe(9)
  expect(shop.effects.map((effect) => effect.split('@')[0])).toEqual(['1', '0'])
  expect(numberOf(paymentHash(3))).toBe(3)
})

test('a run that goes on with a rest looks for nothing: it has not seen the pages before', async () => {
  await using service = await startService()
  await service.index(...range(6))
  const shop = openShop(service)
  const from = listing(
    shop.store,
    range(6).map((n) => key(n)),
  )
  const run = { from, handle: shop.handle, until: 'end', pageSize: 2, maxPages: 2 } as const
  const { checkpoint } = await shop.client.reconcile(run)
  service.asked.length = 0
  const found = await shop.client.reconcile({ ...run, checkpoint })
  expect(found).toMatchObject({ stopped: 'end', unknown: null })
  expect(service.asked).toHaveLength(1)
})
