import { expect, test, vi } from 'vitest'
import { beforeSettle, busy, ok, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { type ManualClock, turns } from '../../test/support/manual-clock.js'
import { numbered } from '../../test/support/outbox.js'
import { deferred, start, until } from '../../test/support/until.js'
import type { PostResult } from '../ports/runtime.js'

const idle = (clock: ManualClock) => until('an idle dispatcher', () => clock.sleepers().length === 1)

test.each([
  ['concurrency', 1.5],
  ['perEndpoint', 0],
  ['batch', Number.NaN],
  ['idlePollMs', Number.POSITIVE_INFINITY],
  ['leaseMs', 9_999],
])('%s of %d is a RangeError that names it', (name, value) => {
  expect(() => setUpDispatcher({ [name]: value })).toThrow(RangeError)
  expect(() => setUpDispatcher({ [name]: value })).toThrow(`${name} is ${value}`)
})

test('a loop claims nothing when results that arrive before the claim make the store fall behind', async () => {
  const gates = new Map<string, () => void>()
  const { dispatcher, deliveries, logger } = setUpDispatcher({ concurrency: 2, batch: 64 }, async ({ url }) => {
    const gate = deferred()
    gates.set(url, () => gate.resolve())
    await gate.promise
    return ok
  })
  const committed = deferred()
  beforeSettle({ deliveries }, () => committed.promise)
  await deliveries.add(...numbered(8).map((each, index) => ({ ...each, notificationUrl: `${index}` })))
  const loop = start(dispatcher)
  for (const [index, next] of Object.entries(['2', '3'])) {
    await until(`posts ${index} and ${next}`, () => gates.has(index))
    gates.get(index)?.()
    await until(`post ${next}`, () => gates.has(next))
  }
  gates.get('2')?.()
  // The claim that its finished POST wakes waits for the next turn.
  for (let step = 0; step < 40; step += 1) await Promise.resolve()
  gates.get('3')?.()
  await turns()
  expect(deliveries.claimLimits).not.toContain(0)
  expect(gates.has('4')).toBe(false)
  committed.resolve()
  for (const index of ['4', '5', '6', '7']) {
    await until(`post ${index}`, () => gates.has(index))
    gates.get(index)?.()
  }
  await until('all delivered', async () => (await deliveries.view('d7')).status === 'delivered')
  expect(logger.lines).toEqual([])
  await loop.stop()
})

test('an abort takes no new claims, and ends the loop only after posts in flight have settled', async () => {
  const gate = deferred<PostResult>()
  const { dispatcher, deliveries, posts, attempts } = setUpDispatcher({ concurrency: 1 }, () => gate.promise)
  await deliveries.add({ name: 'a' })
  await deliveries.add({ name: 'b' })
  const loop = start(dispatcher)
  await until('a post', () => posts.length === 1)
  loop.abort()
  const ended = vi.fn()
  void loop.run.then(ended)
  await turns()
  expect(ended).not.toHaveBeenCalled()
  gate.resolve(ok)
  await loop.stop()
  expect(attempts()).toHaveLength(1)
  expect(posts).toHaveLength(1)
  expect(await deliveries.view('b')).toMatchObject({ status: 'pending', attempts: [] })
})

test('a wake between a claim and the sleep is not lost', async () => {
  const { dispatcher, deliveries, posts } = setUpDispatcher()
  const looking = deferred()
  const asked = deferred()
  const msUntilDue = deliveries.msUntilDue
  deliveries.msUntilDue = async () => {
    const ms = await msUntilDue()
    asked.resolve()
    await looking.promise
    return ms
  }
  const loop = start(dispatcher)
  await asked.promise
  await deliveries.add({ name: 'a' })
  dispatcher.wake()
  looking.resolve()
  await until('the post', () => posts.length === 1)
  await loop.stop()
})

test('an idle loop only looks for due deliveries at each poll, and claims what another process made due', async () => {
  const { dispatcher, deliveries, clock, posts } = setUpDispatcher()
  const loop = start(dispatcher)
  await idle(clock)
  for (let polls = 0; polls < 10; polls += 1) await clock.advance(250)
  expect(deliveries.claimLimits).toHaveLength(1)
  await deliveries.add({ name: 'a' })
  await clock.advance(250)
  await until('the post', () => posts.length === 1)
  expect(deliveries.claimLimits).toHaveLength(2)
  await loop.stop()
})

test('a loop backs off while the store fails, longer each time, and recovers by itself', async () => {
  const { dispatcher, deliveries, clock, logger, posts } = setUpDispatcher()
  await deliveries.add({ name: 'a' })
  deliveries.failures.claim.push(busy(), busy(), busy())
  const loop = start(dispatcher)
  await idle(clock)
  dispatcher.wake()
  await turns()
  expect(deliveries.claimLimits).toHaveLength(1)
  await clock.advance(188)
  await clock.advance(375)
  await clock.advance(750)
  await until('the post', () => posts.length === 1)
  expect(clock.slept.slice(0, 3)).toEqual([188, 375, 750])
  expect(logger.lines.map(({ fields }) => fields['failures'])).toEqual([1, 2, 3])
  await idle(clock)
  const { msUntilDue } = deliveries
  deliveries.msUntilDue = () => {
    deliveries.msUntilDue = msUntilDue
    return Promise.reject(busy())
  }
  await clock.advance(250)
  expect(clock.slept.at(-1)).toBe(188)
  await loop.stop()
})

test('a loop listens for deliveries of other processes while it runs, and no longer', async () => {
  const { dispatcher, deliveries, clock, posts } = setUpDispatcher()
  const listeners = new Set<() => void>()
  deliveries.whenDue = (listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const loop = start(dispatcher)
  await idle(clock)
  expect(listeners.size).toBe(1)
  await deliveries.add({ name: 'a' })
  for (const announce of listeners) announce()
  await until('the post', () => posts.length === 1)
  await loop.stop()
  expect(listeners.size).toBe(0)
  expect(clock.slept.every((ms) => ms === 250)).toBe(true)
})

test('a process frozen for too much of a lease posts nothing under it', async () => {
  const { dispatcher, deliveries, posts, clock, logger, attempts } = setUpDispatcher()
  await deliveries.add({ name: 'a' })
  const { claim } = deliveries
  let frozenMs = 10_001
  deliveries.claim = async (request) => {
    const claims = await claim(request)
    await clock.advance(frozenMs)
    frozenMs = 10_000
    return claims
  }
  await dispatcher.runOnce()
  expect(posts).toEqual([])
  expect(logger.lines).toMatchObject([{ level: 'warn', fields: { deliveryId: '1', attempt: 1 } }])
  await clock.advance(15_000)
  await dispatcher.runOnce()
  expect(posts).toHaveLength(1)
  expect(attempts()).toMatchObject([{ attempt: 1, outcome: 'delivered' }])
})

test('a clock that was hours ahead leaves no delivery leased for hours: the next process sends it at its second poll, and says so', async () => {
  const { clock, deliveries, dispatcher, logger, posts } = setUpDispatcher()
  const { now } = clock
  clock.now = () => now() + 3 * 60 * 60_000
  await deliveries.add({ name: 'd0' })
  expect(await deliveries.claim({ limit: 1, leaseMs: 15_000 })).toHaveLength(1)
  clock.now = now
  const loop = start(dispatcher)
  await until('the look', () => logger.lines.length === 1)
  await idle(clock)
  await clock.advance(250)
  await until('the post', () => posts.length === 1)
  await loop.stop()
  expect(logger.lines).toContainEqual(expect.objectContaining({ level: 'warn', fields: { ended: 1 } }))
})

test('runOnce attempts everything that is due, in as many claims as it takes, and nothing that is not', async () => {
  const { dispatcher, deliveries, posts, clock } = setUpDispatcher({ batch: 3, concurrency: 5 })
  await deliveries.add(...numbered(20))
  await deliveries.add({ name: 'later', dueAt: clock.now() + 1 })
  expect(await dispatcher.runOnce()).toBe(20)
  expect(posts).toHaveLength(20)
  expect(Math.max(...deliveries.claimLimits)).toBe(3)
  expect((await deliveries.view('later')).attempts).toEqual([])
  expect(await dispatcher.runOnce()).toBe(0)
})

test('runOnce rejects with the error of a claim, after its posts have settled', async () => {
  const { dispatcher, deliveries } = setUpDispatcher({ batch: 1 }, async () => {
    await turns()
    return ok
  })
  await deliveries.add({ name: 'a' })
  const claim = deliveries.claim
  deliveries.claim = async (options) => {
    deliveries.failures.claim.push(...(deliveries.claimLimits.length === 1 ? [busy()] : []))
    return claim(options)
  }
  await expect(dispatcher.runOnce()).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
  expect((await deliveries.view('a')).status).toBe('delivered')
})

test('a large claim starts 32 POSTs before responses are read, and all POSTs are waited for', async () => {
  let [started, atFirstAnswer] = [0, 0]
  const { dispatcher, deliveries } = setUpDispatcher({ perEndpoint: 100 }, async () => {
    started += 1
    for (let step = 0; step < 20; step += 1) await Promise.resolve()
    atFirstAnswer ||= started
    return ok
  })
  await deliveries.add(...numbered(100))
  expect(await dispatcher.runOnce()).toBe(100)
  expect(deliveries.claimLimits[0]).toBe(256)
  expect([started, atFirstAnswer]).toEqual([100, 32])
  expect((await deliveries.view('d99')).status).toBe('delivered')
})
