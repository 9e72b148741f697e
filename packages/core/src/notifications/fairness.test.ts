import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { beforeSettle, ok, setUpDispatcher, start } from '../../test/support/dispatcher-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { getAddress, numbered } from '../../test/support/outbox.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { deferred, until } from '../../test/support/until.js'
import type { PostResult } from '../ports/runtime.js'
import type { DispatcherOptions } from './dispatch-run.js'

const timeout: PostResult = { kind: 'failure', reason: 'timeout', latencyMs: 5_000 }
const slow: PostResult = { ...ok, latencyMs: 4_900 }

/** How endpoint 0 behaves; all others answer after 20 ms. */
const troubles = {
  'hangs until the time is over': [5_000, timeout],
  'answers, but only after 4.9 s': [4_900, slow],
  'rejects at once': [0, { kind: 'failure', reason: 'connection', latencyMs: 0 }],
  'is well': [20, ok],
} as const

/** Publishes to a hundred endpoints; returns the others' milliseconds from publishing to delivery. */
async function publishToAll(trouble: keyof typeof troubles): Promise<number[]> {
  const [badMs, badResult] = troubles[trouble]
  const setup = setUpDispatcher({}, async ({ url }) => {
    const isBad = url === 'endpoint 0'
    await setup.clock.sleep(isBad ? badMs : 20)
    return isBad ? badResult : ok
  })
  const { clock, deliveries, attempts, dispatcher } = setup
  const loop = start(dispatcher)
  // Endpoint 0 has a backlog, as after a night of being down.
  const named = (endpoint: number) => ({
    ...{ notificationUrl: `endpoint ${endpoint}`, integrationAddress: getAddress(`0x${endpoint}`) },
  })
  await deliveries.add(...numbered(200, named(0)))
  for (let round = 0; round < 4; round += 1) {
    for (let first = 0; first < 100; first += 10) {
      const endpoints = Array.from({ length: 10 }, (_, index) => first + index)
      await deliveries.add(...endpoints.map((endpoint) => ({ name: `${round} ${endpoint}`, ...named(endpoint) })))
      dispatcher.wake()
      await clock.advance(100)
    }
  }
  await clock.advance(100)
  const others = attempts().filter(({ integrationAddress }) => integrationAddress !== getAddress('0x0'))
  expect(others).toHaveLength(4 * 99)
  loop.abort()
  await clock.advance(10_000)
  await loop.run
  return others.map(({ publishedMs }) => publishedMs ?? Number.NaN)
}

let withoutTrouble: Promise<number[]> | undefined
const publishWithout = () => {
  withoutTrouble ??= publishToAll('is well')
  return withoutTrouble
}

const p99 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0

test.each(['hangs until the time is over', 'answers, but only after 4.9 s', 'rejects at once'] as const)(
  'one endpoint of a hundred that %s, with a backlog, moves the 99th percentile of the others by 10 % at most',
  async (trouble) => {
    const without = p99(await publishWithout())
    const beside = p99(await publishToAll(trouble))
    expect(without).toBeGreaterThan(0)
    expect(beside).toBeLessThanOrEqual(without * 1.1)
  },
)

/** The times from publishing to delivery of 40 endpoints that answer after 20 ms, beside as many slow ones. */
async function besideSlow(count: number): Promise<number[]> {
  const isSlow = (url: string) => url.startsWith('slow')
  const setup = setUpDispatcher({}, async ({ url }) => {
    await setup.clock.sleep(isSlow(url) ? 4_900 : 20)
    return isSlow(url) ? slow : ok
  })
  const { clock, deliveries, attempts, dispatcher } = setup
  const quickOnes = new Set(Array.from({ length: 40 }, (_, n) => getAddress(`quick ${n}`)))
  for (let index = 0; index < count; index += 1) {
    const old = numbered(120, { notificationUrl: `slow ${index}`, integrationAddress: getAddress(`slow ${index}`) })
    await deliveries.add(...old.map((each) => ({ ...each, name: `${each.name} of ${index}` })))
  }
  const loop = start(dispatcher)
  await clock.advance(1_000)
  for (let round = 0; round < 4; round += 1) {
    await deliveries.add(
      ...[...quickOnes].map((integrationAddress, n) => ({ name: `${round} ${n}`, integrationAddress })),
    )
    dispatcher.wake()
    await clock.advance(1_000)
  }
  loop.abort()
  await clock.advance(10_000)
  await loop.run
  const quick = attempts().filter(({ integrationAddress }) => quickOnes.has(integrationAddress ?? ''))
  expect(quick).toHaveLength(4 * 40)
  return quick.map(({ publishedMs }) => publishedMs ?? Number.NaN)
}

test.each([1, 4, 8])(
  'slow endpoints with old backlogs: %d of them delay nobody by one of their POSTs',
  async (count) => {
    // Fewer than 40 slots are free for 40 deliveries; the rest waits for a quick POST, never for a slow one.
    expect(Math.max(...(await besideSlow(count)))).toBeLessThanOrEqual(100)
  },
)

/** Starts a loop whose POSTs wait for `release`. */
async function gated(options: DispatcherOptions, urls: readonly string[]) {
  const gates: (() => void)[] = []
  const setup = setUpDispatcher(options, async () => {
    const gate = deferred()
    gates.push(() => gate.resolve())
    await gate.promise
    return ok
  })
  await setup.deliveries.add(...urls.map((url, index) => ({ name: `d${index}`, notificationUrl: url })))
  const controller = new AbortController()
  let ended = false
  void setup.dispatcher.run(controller.signal).then(() => {
    ended = true
  })
  return Object.assign(setup, {
    release(count: number) {
      for (const open of gates.splice(0, count)) open()
    },
    async stop() {
      controller.abort()
      await until('the end', () => {
        for (const open of gates.splice(0)) open()
        return ended
      })
    },
  })
}

test('an endpoint at its limit is shared by its integrations in turns: a backlog delays another integration by a single POST', async () => {
  const backlog = Array.from({ length: 100 }, () => 'https://shop.example/a')
  const { deliveries, dispatcher, posts, release, stop } = await gated({ perEndpoint: 4 }, backlog)
  await until('its limit', () => posts.length === 4)
  for (let index = 0; index < 5; index += 1)
    await deliveries.add({
      name: `late ${index}`,
      notificationUrl: 'https://shop.example/b',
      integrationAddress: getAddress('0xb'),
    })
  dispatcher.wake()
  await turns()
  for (let sent = 5; sent <= 10; sent += 1) {
    release(1)
    await until(`post ${sent}`, () => posts.length === sent)
  }
  const paths = posts.slice(4).map(({ url }) => url.slice(-1))
  // Four POSTs of the backlog finish one by one, then two of the other: the least loaded gets the slot.
  expect(paths).toEqual(['b', 'b', 'a', 'a', 'b', 'b'])
  await stop()
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

test('retries get one slot at least', async () => {
  const { dispatcher, deliveries, clock } = setUpDispatcher({ concurrency: 1 }, () => ({ ...ok, status: 500 }))
  await deliveries.add({ name: 'a' })
  await dispatcher.runOnce()
  await clock.advance(10_000)
  expect(await dispatcher.runOnce()).toBe(1)
})

/** An endpoint that fails until `state.status` changes. */
async function failing(options: DispatcherOptions = {}) {
  const state = { status: 500 }
  const setup = setUpDispatcher({ concurrency: 4, batch: 4, ...options }, () => ({ ...ok, status: state.status }))
  await setup.deliveries.add(...numbered(40, { integrationAddress: getAddress('0xbad') }))
  return Object.assign(setup, { state })
}
const getBlockEvents = (setup: Awaited<ReturnType<typeof failing>>) =>
  setup.events.filter(({ type }) => type === 'endpoint.failing' || type === 'endpoint.recovered')

test('an endpoint that fails gets one probe when its block is over, and a longer block when that fails', async () => {
  const setup = await failing()
  await setup.dispatcher.runOnce()
  const first = setup.posts.length
  for (const [index, ms] of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000].entries()) {
    await setup.clock.advance(ms - 1)
    expect(await setup.dispatcher.runOnce()).toBe(0)
    await setup.clock.advance(1)
    expect(await setup.dispatcher.runOnce()).toBe(1)
    expect(setup.posts.length).toBe(first + index + 1)
  }
  expect(getBlockEvents(setup)).toHaveLength(1)
})

test('an endpoint that fails gets its backlog once a probe is answered, with another event', async () => {
  const setup = await failing()
  await setup.dispatcher.runOnce()
  await setup.clock.advance(5_000)
  setup.state.status = 204
  await setup.dispatcher.runOnce()
  await setup.clock.advance(60_000)
  await setup.dispatcher.runOnce()
  expect(await setup.deliveries.count({ status: 'delivered' })).toBe(40)
  expect(getBlockEvents(setup)).toEqual([
    expect.objectContaining({ type: 'endpoint.failing', integrationAddress: getAddress('0xbad'), failingMs: 0 }),
    { type: 'endpoint.recovered', integrationAddress: getAddress('0xbad'), failingMs: 5_000 },
  ])
  expect(await setup.deliveries.endpoints()).toEqual([])
})

test('an endpoint that fails gets the replays of an operator at once during its block', async () => {
  const setup = await failing()
  await setup.dispatcher.runOnce()
  const first = setup.posts.length
  await setup.deliveries.replay({ deliveryId: '1', limit: 1 })
  expect(await setup.dispatcher.runOnce()).toBe(1)
  setup.state.status = 204
  await setup.deliveries.replay({ status: 'pending', limit: 1_000 })
  expect(await setup.dispatcher.runOnce()).toBe(40)
  expect(setup.posts).toHaveLength(first + 41)
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
