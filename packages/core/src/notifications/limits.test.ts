/** Random timing: everything is delivered and no limit is exceeded. See docs/decisions/fairness.md. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ok, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { getAddress, numbered } from '../../test/support/outbox.js'
import { seededRandom } from '../../test/support/seeded-random.js'

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
  const { claim, settle } = deliveries
  deliveries.claim = async (request) => {
    await turns(20)
    const claimed = await claim(request)
    await turns(20)
    return claimed
  }
  deliveries.settle = async (...given) => {
    await turns(40)
    return settle(...given)
  }
  const count = 20 + below(60)
  const urls = ['slow', 'a', 'b', 'c'].slice(0, 1 + below(4))
  const added = numbered(count).map((each) => {
    const notificationUrl = urls[below(urls.length)] ?? 'slow'
    return { ...each, notificationUrl, integrationAddress: getAddress(`${notificationUrl} ${below(3)}`) }
  })
  await deliveries.add(...added)
  const controller = new AbortController()
  if (seed % 2 === 0) expect(await dispatcher.runOnce()).toBe(count)
  else {
    // The clock stands still, so no poll makes up for a lost wake.
    const running = dispatcher.run(controller.signal)
    while (attempts().length < count) await nextTurn()
    controller.abort()
    await running
  }
  expect(await deliveries.count({ status: 'delivered' })).toBe(count)
  expect(exceeded).toEqual([])
  expect(deliveries.claims.length).toBeLessThan(count * 4 + 20)
})
