/** What follows a claim that takes its time, while posts end and commits fail. Source: docs/decisions/fairness.md. */
import { expect, test } from 'vitest'
import { busy, ok, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { deferred, until } from '../../test/support/until.js'
import type { DispatcherOptions } from './dispatcher.js'

/** A loop whose posts and claims wait until they are let go; `end` ends the oldest posts of an endpoint. */
function stepped(options: DispatcherOptions) {
  const posts: { readonly url: string; end(): void; ended: boolean }[] = []
  const claims: (() => void)[] = []
  let looks = 0
  const setup = setUpDispatcher(options, async ({ url }) => {
    const gate = deferred()
    posts.push({ url, end: () => gate.resolve(), ended: false })
    await gate.promise
    return ok
  })
  const { deliveries, clock } = setup
  const claim = deliveries.claim
  deliveries.claim = async (request) => {
    const gate = deferred()
    claims.push(() => gate.resolve())
    const claimed = await claim(request)
    await gate.promise
    return claimed
  }
  const { msUntilDue } = deliveries
  deliveries.msUntilDue = () => {
    looks += 1
    return msUntilDue()
  }
  const add = (url: string, count: number) => {
    for (let index = 0; index < count; index += 1)
      deliveries.add({ deliveryId: `${url} ${index}`, notificationUrl: url, integrationAddress: `0x${url}` })
  }
  const asked = (n: number) => until(`claim ${n}`, () => claims.length === n)
  const run = () => setup.dispatcher.run(new AbortController().signal)
  return {
    ...{ deliveries, clock, add, run, runOnce: setup.dispatcher.runOnce },
    posted: () => posts.length,
    /** How often the next due time was looked for. */
    looks: () => looks,
    /** Resolves once the n-th claim is under way. */
    asked,
    /** Lets it come back. */
    async back(n: number) {
      await asked(n)
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

test('a claim that was bound when it was asked for looks for no next due time, though posts ended meanwhile', async () => {
  const loop = stepped({ concurrency: 8, perEndpoint: 2 })
  loop.add('a', 5)
  void loop.run()
  await loop.back(1)
  await loop.end('a', 1)
  await loop.asked(2)
  await loop.end('a', 1)
  await loop.back(2)
  await loop.back(3)
  expect([loop.posted(), loop.looks()]).toEqual([4, 0])
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
  await loop.asked(2)
  await loop.end('a', 1)
  await loop.back(2)
  await loop.back(3)
  await loop.end('a', 1)
  for (let n = 4; n <= loop.deliveries.claims.length; n += 1) await loop.back(n)
  expect(await attempts).toBe(3)
})
