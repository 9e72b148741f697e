import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { beforeSettle, ok, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { getAddress, numbered } from '../../test/support/outbox.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { deferred, start, until } from '../../test/support/until.js'
import type { PostResult } from '../ports/runtime.js'

const timeout: PostResult = { kind: 'failure', reason: 'timeout', latencyMs: 5_000 }

/** How the endpoints in trouble behave; all others answer after 20 ms. */
const troubles = {
  'hangs until the time is over': [5_000, timeout],
  'answers, but only after 4.9 s': [4_900, { ...ok, latencyMs: 4_900 }],
  'rejects at once': [0, { kind: 'failure', reason: 'connection', latencyMs: 0 }],
  'is well': [20, ok],
} as const

/**
 * Publishes four times to all endpoints, the first `inTrouble` of which have a backlog, as after a night of being down;
 * `atOnce` endpoints every 100 ms. Returns the others' milliseconds from publishing to delivery.
 */
async function publishToAll(trouble: keyof typeof troubles, inTrouble = 1, endpoints = 100, atOnce = 10) {
  const [badMs, badResult] = troubles[trouble]
  const getAddressOf = (endpoint: number) => getAddress(`0x${endpoint}`)
  const bad = new Set(Array.from({ length: inTrouble }, (_, endpoint) => getAddressOf(endpoint)))
  const setup = setUpDispatcher({}, async ({ delivery }) => {
    const isBad = bad.has(delivery?.integrationAddress ?? '')
    await setup.clock.sleep(isBad ? badMs : 20)
    return isBad ? badResult : ok
  })
  const { clock, deliveries, attempts, dispatcher } = setup
  const loop = start(dispatcher)
  for (const [index, integrationAddress] of [...bad].entries()) {
    const backlog = numbered(200, { integrationAddress })
    await deliveries.add(...backlog.map((each) => ({ ...each, name: `${each.name} of ${index}` })))
  }
  await clock.advance(100)
  for (let round = 0; round < 4; round += 1) {
    for (let first = 0; first < endpoints; first += atOnce) {
      const group = Array.from({ length: atOnce }, (_, index) => first + index)
      await deliveries.add(
        ...group.map((endpoint) => ({ name: `${round} ${endpoint}`, integrationAddress: getAddressOf(endpoint) })),
      )
      dispatcher.wake()
      await clock.advance(100)
    }
  }
  await clock.advance(100)
  const others = attempts().filter(({ integrationAddress }) => !bad.has(integrationAddress ?? ''))
  expect(others).toHaveLength(4 * (endpoints - inTrouble))
  loop.abort()
  await clock.advance(10_000)
  await loop.run
  return others.map(({ publishedMs }) => publishedMs ?? Number.NaN)
}

const p99 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0

let withoutTrouble: Promise<number[]> | undefined
const inTrouble = ['hangs until the time is over', 'answers, but only after 4.9 s', 'rejects at once'] as const
test.each(inTrouble)('one endpoint of 100 that %s moves the p99 of the others by 10 % at most', async (trouble) => {
  withoutTrouble ??= publishToAll('is well')
  const without = p99(await withoutTrouble)
  const beside = p99(await publishToAll(trouble))
  expect(without).toBeGreaterThan(0)
  expect(beside).toBeLessThanOrEqual(without * 1.1)
})

test.each([1, 4, 8])('%d slow endpoints with old backlogs delay nobody by one of their POSTs', async (count) => {
  // Fewer than 40 slots are free for 40 deliveries; the rest waits for a quick POST, never for a slow one.
  const others = await publishToAll('answers, but only after 4.9 s', count, count + 40, count + 40)
  expect(Math.max(...others)).toBeLessThanOrEqual(100)
})

test('retries take at most half of the slots, however many are due', async () => {
  const hanging = deferred()
  const setup = setUpDispatcher({ concurrency: 8, batch: 8 }, async ({ url }) => {
    if (url.startsWith('failing')) return { ...ok, status: 500 }
    await hanging.promise
    return ok
  })
  const { clock, deliveries, dispatcher, posts } = setup
  for (let n = 0; n < 20; n += 1)
    await deliveries.add({ name: `r${n}`, notificationUrl: `failing ${n}`, integrationAddress: getAddress(`0x${n}`) })
  await dispatcher.runOnce()
  await clock.advance(10_000)
  posts.length = 0
  deliveries.claims.length = 0
  for (let index = 0; index < 3; index += 1) await deliveries.add({ name: `n${index}`, notificationUrl: 'new' })
  const loop = start(dispatcher)
  await until('a claim', () => posts.length > 0)
  expect(deliveries.claims[0]).toMatchObject({ limit: 8, maxRetries: 4 })
  expect(posts.slice(0, 3).map(({ url }) => url)).toEqual(['new', 'new', 'new'])
  expect(posts.slice(3, 7).map(({ url }) => url)).toEqual([0, 1, 2, 3].map((n) => `failing ${n}`))
  hanging.resolve()
  await loop.stop()
})

test('a claim names the POSTs in flight of each endpoint and integration, by which the store lets them take turns', async () => {
  const hanging = deferred<PostResult>()
  const { dispatcher, deliveries, posts } = setUpDispatcher({ perEndpoint: 4 }, () => hanging.promise)
  const [a, b] = [getAddress('a'), getAddress('b')]
  const shop = (name: string, integrationAddress: string) => {
    return { name, integrationAddress, notificationUrl: `https://shop.example/${name}` }
  }
  await deliveries.add(...['1', '2', '3'].map((name) => shop(name, a)), shop('4', b))
  const loop = start(dispatcher)
  await until('the limit of the endpoint', () => posts.length === 4)
  await deliveries.add(shop('5', b))
  dispatcher.wake()
  await until('another claim', () => deliveries.claims.length > 1)
  expect(deliveries.claims.at(-1)).toMatchObject({
    ...{ perEndpoint: 4, freeSlots: 252, inFlightByEndpoint: new Map([['shop.example:443', 4]]) },
    inFlightByIntegration: new Map(Object.entries({ [a]: 3, [b]: 1 })),
  })
  hanging.resolve(ok)
  await loop.stop()
})

test('retries get one slot at least', async () => {
  const { dispatcher, deliveries, clock } = setUpDispatcher({ concurrency: 1 }, () => ({ ...ok, status: 500 }))
  await deliveries.add({ name: 'a' })
  await dispatcher.runOnce()
  await clock.advance(10_000)
  expect(await dispatcher.runOnce()).toBe(1)
})

test('an endpoint that fails gets one probe when its block is over, and its backlog once a probe is answered, with another event', async () => {
  let status = 500
  const setup = setUpDispatcher({ concurrency: 4, batch: 4 }, () => ({ ...ok, status }))
  await setup.deliveries.add(...numbered(40, { integrationAddress: getAddress('0xbad') }))
  await setup.dispatcher.runOnce()
  for (const ms of [5_000, 10_000]) {
    await setup.clock.advance(ms - 1)
    expect(await setup.dispatcher.runOnce()).toBe(0)
    await setup.clock.advance(1)
    if (ms === 5_000) expect(await setup.dispatcher.runOnce()).toBe(1)
  }
  status = 204
  await setup.dispatcher.runOnce()
  await setup.clock.advance(60_000)
  await setup.dispatcher.runOnce()
  expect(await setup.deliveries.count({ status: 'delivered' })).toBe(40)
  expect(setup.events.filter(({ type }) => type.startsWith('endpoint.'))).toEqual([
    expect.objectContaining({ type: 'endpoint.failing', integrationAddress: getAddress('0xbad'), failingMs: 0 }),
    { type: 'endpoint.recovered', integrationAddress: getAddress('0xbad'), failingMs: 15_000 },
  ])
  expect(await setup.deliveries.endpoints()).toEqual([])
})

/** Random timing. See docs/decisions/fairness.md. */
const seeds = Array.from({ length: 20 }, (_, index) => index + 1)

test.each(seeds)('seed %d: POSTs, claims and commits of random length exceed no limit', async (seed) => {
  const random = seededRandom(seed)
  const below = (most: number) => Math.floor(random.fraction() * most)
  const turns = async (most: number) => {
    for (let left = below(most); left > 0; left -= 1) await nextTurn()
  }
  const concurrency = 1 + below(12)
  const perEndpoint = 1 + below(concurrency + 2)
  const slowest = 1 + below(60)
  const posting = new Map<string, number>()
  const exceeded: string[] = []
  const change = (url: string, by: number) => {
    posting.set(url, (posting.get(url) ?? 0) + by)
    const all = [...posting.values()].reduce((sum, count) => sum + count, 0)
    if (all > concurrency || (posting.get(url) ?? 0) > perEndpoint)
      exceeded.push(`${url}: ${JSON.stringify([...posting])}`)
  }
  const { deliveries, dispatcher, attempts } = setUpDispatcher(
    { concurrency, perEndpoint, batch: 1 + below(14) },
    async ({ url }) => {
      change(url, 1)
      await turns(url === 'slow' ? slowest * 3 : slowest)
      change(url, -1)
      return ok
    },
  )
  const { claim } = deliveries
  deliveries.claim = async (request) => {
    await turns(20)
    const claimed = await claim(request)
    await turns(20)
    return claimed
  }
  beforeSettle({ deliveries }, () => turns(40))
  const count = 20 + below(60)
  const urls = ['slow', 'a', 'b', 'c'].slice(0, 1 + below(4))
  const added = numbered(count).map((each) => {
    const notificationUrl = urls[below(urls.length)] ?? 'slow'
    return { ...each, notificationUrl, integrationAddress: getAddress(`${notificationUrl} ${below(3)}`) }
  })
  await deliveries.add(...added)
  if (seed % 2 === 0) expect(await dispatcher.runOnce()).toBe(count)
  else {
    // The clock stands still, so no poll makes up for a lost wake.
    const loop = start(dispatcher)
    while (attempts().length < count) await nextTurn()
    await loop.stop()
  }
  expect(await deliveries.count({ status: 'delivered' })).toBe(count)
  expect(exceeded).toEqual([])
  expect(deliveries.claims.length).toBeLessThan(count * 4 + 20)
})
