import { describe, expect, test, vi } from 'vitest'
import type {
  FetchFunction,
  Findings,
  ListingStore,
  ReconcileCheckpoint,
  Reconciliation,
  UnknownPayment,
} from '../src/exports/index.js'
import type { StoredKey } from '../src/reconcile/options.js'
import { integrationAddress } from './fixtures.js'
import { findTime, paymentHash } from './service.js'
import { getNumber, range, type Shop, startShop } from './shop.js'

/** The store of a shop, which lists these payments. */
function listing({ store }: Pick<Shop, 'store'>, keys: readonly StoredKey[]): ListingStore<undefined> {
  return {
    ...store,
    async *list() {
      yield* keys
    },
  }
}

/** The hashes of the single look-ups. */
const lookUps = (requests: readonly string[]) =>
  requests.flatMap((path) => /\/payments\/(0x\w+)$/.exec(path)?.[1] ?? [])

const key = (n: number, chainId = '137') => ({ integrationAddress, chainId, txHash: paymentHash(n) })
const keysOf = (count: number, first = 0) => range(count, first).map((n) => key(n))

test('a payment that only the store has is looked up, and reported with the reason', async () => {
  await using shop = await startShop(3)
  await shop.service.index(50)
  await shop.service.indexOn(10, 50)
  const keys = [...keysOf(3), key(7), key(1, '1'), key(50, '1'), { ...key(0), txHash: 'not a hash' }]
  const found = await shop.reconcile({ from: listing(shop, keys), until: 'end' })
  expect(found.unknown?.samples.map(({ chainId, txHash, reason }) => [chainId, txHash, reason])).toEqual([
    ['137', paymentHash(7), 'not_found'],
    ['1', paymentHash(1), 'other_chain'],
    ['1', paymentHash(50), 'ambiguous'],
    ['137', 'not a hash', 'not_found'],
  ])
  expect(found).toMatchObject({ unknown: { count: 4, omitted: 0 }, missing: { count: 5 } })
  expect(shop.service.requests.filter((path) => path.includes(`/payments/`))).toHaveLength(3)
})

test('the store of the receiver can list its payments', async () => {
  await using shop = await startShop(3)
  await shop.reconcile()
  await shop.store.advance({ ...key(7), version: 1 }, () => undefined)
  await shop.store.advance({ ...key(8), integrationAddress: `0x${'ee'.repeat(20)}`, version: 1 }, () => undefined)
  const found = await shop.reconcile({ until: 'end' })
  expect(found).toMatchObject({ missing: { count: 0 }, unknown: { count: 1, samples: [{ txHash: paymentHash(7) }] } })
})

test('a payment that no page showed is found by its look-up, and is compared', async () => {
  // Simulates a reorg during the run: the payment is on none of its pages.
  const withoutFive: FetchFunction = async (url, init) => {
    const response = await fetch(url, init)
    if (!new URL(url).pathname.endsWith('/payments')) return response
    const read = (await response.json()) as { payments: { txHash: string }[] }
    return Response.json({ ...read, payments: read.payments.filter(({ txHash }) => txHash !== paymentHash(5)) })
  }
  await using shop = await startShop(6, { fetch: withoutFive })
  const from = listing(shop, keysOf(6))
  const found = await shop.reconcile({ from, until: 'end', pageSize: 2 })
  expect(lookUps(shop.service.requests)).toEqual([paymentHash(5)])
  expect(found).toMatchObject({ unknown: { count: 0 }, compared: 6, repaired: 6 })
  expect(shop.effects).toEqual(range(6).map((n) => `${n}@1`))
})

test('a payment that a delivery adds during the run is not unknown', async () => {
  await using shop = await startShop(2)
  const stored: StoredKey[] = []
  shop.service.beforeEachAnswer(async () => void stored.push(key(9)))
  const from = listing(shop, stored)
  expect((await shop.reconcile({ from, until: 'end' })).unknown).toMatchObject({ count: 0 })
})

test.each([
  ['known', { until: 'known' as const }],
  ['a date', { until: findTime(0) }],
  ["'end', stopped before it", { until: 'end' as const, maxPages: 1 }],
])('unknown is null until %s', async (_case, options) => {
  await using shop = await startShop(4)
  const from = listing(shop, [key(77)])
  await shop.reconcile({ from, until: 'end' })
  const found = await shop.reconcile({ from, pageSize: 2, ...options })
  expect(found.unknown).toBeNull()
})

test('unknown is null in a resumed run, which has not read the earlier pages', async () => {
  await using shop = await startShop(6)
  const from = listing(shop, keysOf(6))
  const run = { from, until: 'end', pageSize: 2, maxPages: 2 } as const
  const { checkpoint } = await shop.reconcile(run)
  shop.service.requests.length = 0
  const found = await shop.reconcile({ ...run, checkpoint })
  expect(found).toMatchObject({ stopped: 'end', unknown: null })
  expect(shop.service.requests).toHaveLength(1)
})

describe('a look-up that fails', () => {
  /** A client whose look-ups get these answers. */
  async function startFailing(payments: number, answers: (n: number) => Response | null) {
    const looked: number[] = []
    const answer: FetchFunction = async (url, init) => {
      const hash = lookUps([new URL(url).pathname])[0]
      if (hash === undefined) return fetch(url, init)
      looked.push(getNumber(hash))
      return answers(getNumber(hash)) ?? fetch(url, init)
    }
    return { ...(await startShop(payments, { fetch: answer, maxRetries: 0 })), looked }
  }
  const reasons = (found: { unknown: Findings<UnknownPayment> | null }) =>
    found.unknown?.samples.map(({ txHash, reason }) => `${getNumber(txHash)}: ${reason}`)

  test.each([
    ['an error of the service', () => new Response('', { status: 500 })],
    ['an answer that is not a payment', () => Response.json({})],
    ['a lost connection', () => Response.error()],
  ])('by %s makes its payment unreadable and does not stop the run', async (_case, answer) => {
    await using shop = await startFailing(2, (n) => (n === 7 ? answer() : null))
    const from = listing(shop, [key(0), key(7), key(8)])
    let checkpoint: ReconcileCheckpoint | null = null
    for (const _run of ['one', 'two']) {
      const found: Reconciliation = await shop.reconcile({ from, until: 'end', pageSize: 1, checkpoint })
      expect(found).toMatchObject({ stopped: 'end', checkpoint: { unfinished: [] } })
      expect(reasons(found)).toEqual(['7: unreadable', '8: not_found'])
      checkpoint = found.checkpoint
    }
  })

  test('three times in a row stops the look-ups, but not the run', async () => {
    await using shop = await startFailing(2, (n) => (n === 12 ? null : new Response('', { status: 503 })))
    const from = listing(shop, keysOf(8, 10))
    const found = await shop.reconcile({ from, until: 'end' })
    expect(reasons(found)).toEqual(range(8, 10).map((n) => `${n}: ${n === 12 ? 'not_found' : 'unreadable'}`))
    expect(shop.looked).toEqual(range(6, 10))
  })

  test('because of the credentials stops the run', async () => {
    await using shop = await startFailing(0, () => new Response('', { status: 401 }))
    const from = listing(shop, [key(7)])
    const run = shop.reconcile({ from, until: 'end' })
    await expect(run).rejects.toMatchObject({ code: 'ERR_UNAUTHORIZED' })
  })
})

describe('an abort while the store is listed', () => {
  test('stops the run at the next payment, and closes the listing', async () => {
    await using shop = await startShop()
    const controller = new AbortController()
    let listed = 0
    let closed = false
    async function* list() {
      try {
        for (; listed < 50; listed += 1) {
          if (listed === 3) controller.abort()
          yield key(listed)
        }
      } finally {
        closed = true
      }
    }
    const from = { ...shop.store, list }
    const run = shop.reconcile({ from, until: 'end', signal: controller.signal })
    await expect(run).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    await vi.waitUntil(() => closed, 300_000)
    expect(listed).toBe(3)
    expect(shop.service.requests).toEqual([])
  })

  test('stops the run at once while the store itself waits', async () => {
    await using shop = await startShop()
    const controller = new AbortController()
    async function* list() {
      controller.abort()
      await new Promise(() => undefined)
      yield key(0)
    }
    const from = { ...shop.store, list }
    const run = shop.reconcile({ from, until: 'end', signal: controller.signal })
    await expect(run).rejects.toMatchObject({ code: 'ERR_ABORTED' })
  })
})

test('a list that resolves an array is accepted', async () => {
  await using shop = await startShop()
  const from = { ...shop.store, list: async () => [key(7)] }
  const found = await shop.reconcile({ from, until: 'end' })
  expect(found).toMatchObject({ unknown: { count: 1, samples: [{ txHash: paymentHash(7), reason: 'not_found' }] } })
})

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['null', null],
  ['one key instead of a list', key(7)],
  ['text', 'keys'],
  ['rows with other columns', [{ integration_address: integrationAddress, chain_id: '137', tx_hash: paymentHash(7) }]],
  ['a chain that is a number', [{ ...key(7), chainId: 137 }]],
  ['an undefined entry', [key(7), undefined]],
])('a list that returns %s is a TypeError with the expected shape, before any request', async (_, listed) => {
  await using shop = await startShop()
  for (const list of [() => listed, async () => listed]) {
    const run = shop.reconcile({ from: { ...shop.store, list } as unknown as ListingStore<undefined>, until: 'end' })
    await expect(run).rejects.toThrow(TypeError)
    await expect(run).rejects.toThrow('list must give { integrationAddress, chainId, txHash }')
  }
  expect(shop.service.requests).toEqual([])
})

test('keys of another integration are ignored, and the case of an address does not matter', async () => {
  await using shop = await startShop()
  const other = { ...key(7), integrationAddress: `0x${'ee'.repeat(20)}` }
  const upper = { ...key(8), integrationAddress: `0x${integrationAddress.slice(2).toUpperCase()}` }
  const from = listing(shop, [other, upper])
  const found = await shop.reconcile({ from, until: 'end' })
  expect(found.unknown?.samples).toMatchObject([{ txHash: paymentHash(8) }])
  expect(found.unknown?.count).toBe(1)
  expect(lookUps(shop.service.requests)).toEqual([paymentHash(8)])
})
