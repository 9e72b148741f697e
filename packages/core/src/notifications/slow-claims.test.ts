/** POSTs that finish, and commits that fail, during a slow claim. See docs/decisions/fairness.md. */
import { expect, test } from 'vitest'
import { busy, ok, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { numbered } from '../../test/support/outbox.js'
import { deferred, until } from '../../test/support/until.js'
import type { DispatcherOptions } from './dispatcher-options.js'

/** A loop whose POSTs and claims wait; `finish` finishes the oldest POSTs of an endpoint. */
function stepped(options: DispatcherOptions) {
  const posts: { readonly url: string; finish(): void; isFinished: boolean }[] = []
  const claims: (() => void)[] = []
  let dueReads = 0
  const setup = setUpDispatcher(options, async ({ url }) => {
    const gate = deferred()
    posts.push({ url, finish: () => gate.resolve(), isFinished: false })
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
    dueReads += 1
    return msUntilDue()
  }
  const add = (url: string, count: number) =>
    deliveries.add(
      ...numbered(count, { notificationUrl: url }).map((each) => ({ ...each, name: `${url} ${each.name}` })),
    )
  const begun = (n: number) => until(`claim ${n}`, () => claims.length === n)
  const run = () => setup.dispatcher.run(new AbortController().signal)
  return {
    ...{ deliveries, clock, add, run, runOnce: setup.dispatcher.runOnce },
    posted: () => posts.length,
    /** Reads of the next due time. */
    dueReads: () => dueReads,
    /** Resolves once the n-th claim has begun. */
    begun,
    /** Lets the n-th claim return. */
    async claimed(n: number) {
      await begun(n)
      claims[n - 1]?.()
      await turns()
    },
    async finish(url: string, count: number) {
      const finishing = posts.filter((post) => post.url === url && !post.isFinished).slice(0, count)
      expect(finishing).toHaveLength(count)
      for (const post of finishing) {
        post.isFinished = true
        post.finish()
      }
      await turns()
    },
  }
}

test('a claim that reached a limit reads no next due time, though POSTs finished meanwhile', async () => {
  const loop = stepped({ concurrency: 8, perEndpoint: 2 })
  await loop.add('a', 5)
  void loop.run()
  await loop.claimed(1)
  await loop.finish('a', 1)
  await loop.begun(2)
  await loop.finish('a', 1)
  await loop.claimed(2)
  await loop.claimed(3)
  expect([loop.posted(), loop.dueReads()]).toEqual([4, 0])
})

test('while a failed commit waits the slots stay in use', async () => {
  const loop = stepped({ concurrency: 4, perEndpoint: 4 })
  await loop.add('a', 20)
  void loop.run()
  await loop.claimed(1)
  loop.deliveries.failures.settle.push(busy())
  await loop.finish('a', 1)
  await loop.claimed(2)
  await loop.finish('a', 3)
  await loop.claimed(3)
  expect([loop.posted(), loop.clock.sleepers()]).toEqual([8, [expect.any(Number)]])
})

test('runOnce continues when the POSTs that reached a limit finished during the claim', async () => {
  const loop = stepped({ concurrency: 2, perEndpoint: 1 })
  await loop.add('a', 2)
  await loop.add('b', 1)
  const attempts = loop.runOnce()
  await loop.claimed(1)
  await loop.finish('b', 1)
  await loop.begun(2)
  await loop.finish('a', 1)
  await loop.claimed(2)
  await loop.claimed(3)
  await loop.finish('a', 1)
  for (let n = 4; n <= loop.deliveries.claims.length; n += 1) await loop.claimed(n)
  expect(await attempts).toBe(3)
})
