/** A claim that takes its time asks for the slots of what ends meanwhile. Source: docs/decisions/fairness.md. */
import { expect, test } from 'vitest'
import { busy, ok, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { deferred, until } from '../../test/support/until.js'
import type { DispatcherOptions } from './dispatcher.js'

/** A loop whose posts and claims wait until they are let go; `end` ends the oldest posts of an endpoint. */
function stepped(options: DispatcherOptions) {
  const posts: { readonly url: string; end(): void; ended: boolean }[] = []
  const claims: (() => void)[] = []
  let [inFlight, most] = [0, 0]
  const setup = setUpDispatcher(options, async ({ url }) => {
    const gate = deferred()
    posts.push({ url, end: () => gate.resolve(), ended: false })
    inFlight += 1
    most = Math.max(most, inFlight)
    await gate.promise
    inFlight -= 1
    return ok
  })
  const { deliveries, clock, logger } = setup
  const claim = deliveries.claim
  deliveries.claim = async (request) => {
    const gate = deferred()
    claims.push(() => gate.resolve())
    const claimed = await claim(request)
    await gate.promise
    return claimed
  }
  const add = (url: string, count: number) => {
    for (let index = 0; index < count; index += 1)
      deliveries.add({ deliveryId: `${url} ${index}`, notificationUrl: url, integrationAddress: `0x${url}` })
  }
  const controller = new AbortController()
  const run = () => setup.dispatcher.run(controller.signal)
  return {
    ...{ deliveries, clock, logger, add, run, runOnce: setup.dispatcher.runOnce },
    posted: (to?: string) => posts.filter(({ url }) => to === undefined || url === to).length,
    most: () => most,
    abort: () => controller.abort(),
    /** Lets the claim under way, the n-th, come back. */
    async back(n: number) {
      await until(`claim ${n}`, () => claims.length === n)
      claims[n - 1]?.()
      await turns()
    },
    async end(url: string, count: number) {
      const ending = posts.filter((post) => post.url === url && !post.ended).slice(0, count)
      expect(ending).toHaveLength(count)
      for (const post of ending) {
        post.ended = true
        post.end()
      }
      await turns()
    },
  }
}

const bounds = { concurrency: 8, perEndpoint: 8 }

/** Eight posts, of which five have ended, three of these while a claim of two was under way; the next claim is under way. */
async function ahead() {
  const loop = stepped(bounds)
  loop.add('a', 40)
  const ended = loop.run()
  await loop.back(1)
  await loop.end('a', 2)
  await until('the second claim', () => loop.deliveries.claims.length === 2)
  await loop.end('a', 3)
  await loop.back(2)
  await until('the third claim', () => loop.deliveries.claims.length === 3)
  return { ...loop, ended }
}

test('a claim asks for the slots of as many posts as ended while the last one was under way', async () => {
  const { deliveries, posted } = await ahead()
  expect(posted()).toBe(10)
  expect(deliveries.claimLimits).toEqual([8, 2, 6])
  expect(deliveries.claims[2]?.held).toEqual(new Map([['a', 2]]))
})

test('where fewer end than were expected the rest waits: no more posts than slots, and no claim until it has gone', async () => {
  const { deliveries, back, end, most, posted } = await ahead()
  await back(3)
  expect(posted()).toBe(13)
  await end('a', 1)
  await end('a', 2)
  expect([posted(), most()]).toEqual([16, 8])
  expect(deliveries.claims).toHaveLength(3)
  await end('a', 1)
  await until('the fourth claim', () => deliveries.claims.length === 4)
  expect(deliveries.claimLimits[3]).toBe(1)
})

test('where as many end as were expected all is posted at once', async () => {
  const { back, end, most, posted } = await ahead()
  await end('a', 3)
  await back(3)
  expect([posted(), most()]).toEqual([16, 8])
})

test('an abort posts what waits for a slot, so that nobody waits for its lease', async () => {
  const { abort, back, end, ended, posted, deliveries } = await ahead()
  abort()
  await back(3)
  await end('a', 5)
  await end('a', 6)
  await ended
  expect(posted()).toBe(16)
  expect(await deliveries.count({ status: 'delivered' })).toBe(16)
})

test('what has waited for too long to be posted within its lease is not posted, and comes back', async () => {
  const { back, clock, deliveries, end, logger, posted } = await ahead()
  await back(3)
  await clock.advance(10_001)
  await end('a', 3)
  expect(posted()).toBe(13)
  expect(logger.lines).toHaveLength(3)
  expect(await deliveries.count({ status: 'pending' })).toBe(40 - 8)
})

test('endpoints that stop answering while much was claimed for them keep nobody else waiting', async () => {
  const loop = stepped({})
  const names = Array.from({ length: 10 }, (_, index) => `slow ${index}`)
  for (const name of names) loop.add(name, 300)
  void loop.run()
  await loop.back(1)
  for (const name of names) await loop.end(name, 6)
  await until('the second claim', () => loop.deliveries.claims.length === 2)
  for (const name of names) await loop.end(name, 12)
  await loop.back(2)
  for (let n = 3; n <= loop.deliveries.claims.length; n += 1) await loop.back(n)
  loop.add('quick', 1)
  loop.deliveries.announce()
  await loop.back(loop.deliveries.claims.length + 1)
  expect(loop.posted('quick')).toBe(1)
})

test('while a commit is to be tried again the slots go on being used', async () => {
  const loop = stepped({ concurrency: 4, perEndpoint: 4 })
  loop.add('a', 20)
  void loop.run()
  await loop.back(1)
  loop.deliveries.failures.settle.push(busy())
  await loop.end('a', 1)
  await loop.back(2)
  await loop.end('a', 3)
  await loop.back(3)
  expect([loop.posted(), loop.clock.sleepers()]).toEqual([8, [expect.any(Number)]])
})

test('runOnce goes on where a claim was bound by the last posts, which have ended meanwhile', async () => {
  const loop = stepped({ concurrency: 2, perEndpoint: 1 })
  loop.add('a', 2)
  loop.add('b', 1)
  const attempts = loop.runOnce()
  await loop.back(1)
  await loop.end('b', 1)
  await until('the second claim', () => loop.deliveries.claims.length === 2)
  await loop.end('a', 1)
  await loop.back(2)
  await loop.back(3)
  await loop.end('a', 1)
  for (let n = 4; n <= loop.deliveries.claims.length; n += 1) await loop.back(n)
  expect(await attempts).toBe(3)
})
