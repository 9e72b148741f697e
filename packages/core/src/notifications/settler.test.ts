import { describe, expect, test } from 'vitest'
import { busy, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { deferred, until } from '../../test/support/until.js'
import { mostPerCommit } from './settler.js'

/** A running dispatcher with deliveries of as many endpoints. */
function running(count: number, setup: ReturnType<typeof setUpDispatcher>) {
  for (let index = 0; index < count; index += 1)
    setup.deliveries.add({ deliveryId: `d${index}`, integrationAddress: `0x${index}` })
  const controller = new AbortController()
  const ended = setup.dispatcher.run(controller.signal)
  const stop = async () => {
    controller.abort()
    await ended
  }
  return { ...setup, stop }
}

describe('group commit', () => {
  test('answers that arrive in one turn are settled in one transaction', async () => {
    const { deliveries, stop } = running(100, setUpDispatcher())
    await until('the commit', () => deliveries.groups.length > 0)
    await stop()
    expect(deliveries.groups).toEqual([100])
  })

  test('what ends while a commit runs is settled together by the next', async () => {
    const gate = deferred()
    const setup = setUpDispatcher({}, async ({ url }) => {
      if (url === 'second') await turns()
      return { kind: 'answer', status: 204, retryAfter: null, excerpt: null, latencyMs: 1 }
    })
    const { settle } = setup.deliveries
    setup.deliveries.settle = async (...given) => {
      if (setup.deliveries.groups.length === 0) {
        setup.deliveries.groups.push(0)
        await gate.promise
      }
      return settle(...given)
    }
    setup.deliveries.add({ deliveryId: 'first', integrationAddress: 'first' })
    for (let index = 0; index < 30; index += 1)
      setup.deliveries.add({
        deliveryId: `s${index}`,
        notificationUrl: 'second',
        integrationAddress: `second ${index}`,
      })
    const { deliveries, posts, events, stop } = running(0, setup)
    await until('all posts', () => posts.length === 31)
    for (let turn = 0; turn < 4; turn += 1) await turns()
    expect(events).toEqual([])
    gate.resolve()
    await until('all settled', () => events.length === 31)
    await stop()
    expect(deliveries.groups).toEqual([0, 1, 30])
  })

  test(`no commit holds more than ${mostPerCommit} attempts`, async () => {
    const { deliveries, events, stop } = running(700, setUpDispatcher({ concurrency: 1_000, batch: 1_000 }))
    await until('all settled', () => events.length === 700)
    await stop()
    expect(deliveries.groups).toEqual([256, 256, 188])
  })
})

describe('while the store refuses to settle', () => {
  test('results wait and are settled when it is back within their lease; nothing is posted twice', async () => {
    const setup = setUpDispatcher()
    const outage = Array.from({ length: 8 }, busy)
    setup.deliveries.failures.settle.push(...outage)
    const { clock, deliveries, posts, events, logger, stop } = running(20, setup)
    await until('a refusal', () => logger.lines.length === 1)
    await clock.advance(10_000)
    await until('all settled', () => events.length === 20)
    await clock.advance(60_000)
    await stop()
    expect(posts).toHaveLength(20)
    expect(await deliveries.count({ status: 'delivered' })).toBe(20)
    expect(deliveries.groups).toEqual(Array.from({ length: 9 }, () => 20))
    expect(logger.lines.map(({ message }) => message)).toEqual(outage.map(() => 'attempts not settled; trying again'))
  })

  test('it tries again after a quarter of a second at first, and every second at most', async () => {
    const setup = setUpDispatcher({ idlePollMs: 100_000 })
    setup.deliveries.failures.settle.push(...Array.from({ length: 6 }, busy))
    const { clock, events, stop } = running(1, setup)
    await until('a sleep', () => clock.sleepers().length === 2)
    await clock.advance(10_000)
    expect(events).toHaveLength(1)
    expect(clock.slept.filter((ms) => ms <= 1_000)).toEqual([188, 375, 750, 1_000, 1_000, 1_000])
    await stop()
  })

  test('after the lease a result is dropped with a line in the log, and the delivery comes back as the same attempt', async () => {
    const setup = setUpDispatcher()
    setup.deliveries.failures.settle.push(...Array.from({ length: 40 }, busy))
    const { clock, deliveries, posts, logger, attempts, stop } = running(1, setup)
    await until('a refusal', () => logger.lines.length === 1)
    await clock.advance(14_000)
    expect(posts).toHaveLength(1)
    await clock.advance(2_000)
    expect(posts).toHaveLength(2)
    const dropped = logger.lines.filter(({ message }) => message.includes('not settled within its lease'))
    expect(dropped).toMatchObject([{ level: 'error', fields: { deliveryId: 'd0', attempt: 1 } }])
    deliveries.failures.settle.length = 0
    await clock.advance(1_000)
    await until('the second attempt', () => attempts().length === 1)
    await stop()
    expect(attempts()).toMatchObject([{ attempt: 1, outcome: 'delivered' }])
    expect(deliveries.view('d0').attempts).toHaveLength(1)
  })

  test('nothing more is posted once twice as many results wait as there are slots', async () => {
    const setup = setUpDispatcher({ concurrency: 10, batch: 10 })
    setup.deliveries.failures.settle.push(...Array.from({ length: 9 }, busy))
    const { clock, posts, events, stop } = running(100, setup)
    await until('two rounds of posts', () => posts.length === 20)
    await clock.advance(1_000)
    expect(posts).toHaveLength(20)
    await clock.advance(9_000)
    await until('everything', () => events.length === 100)
    await stop()
    expect(posts).toHaveLength(100)
  })

  test('an attempt that alone is refused does not keep the others from being settled', async () => {
    const setup = setUpDispatcher()
    const { settle } = setup.deliveries
    setup.deliveries.settle = async (group, judge) => {
      if (group.some(({ claim }) => claim.deliveryId === 'd3')) throw new TypeError('no such column')
      return settle(group, judge)
    }
    const { clock, deliveries, attempts, logger, stop } = running(10, setup)
    await until('the others', () => attempts().length === 9)
    expect(await deliveries.count({ status: 'delivered' })).toBe(9)
    expect(logger.lines).toMatchObject([{ fields: { error: 'TypeError', attempts: 1 } }])
    deliveries.settle = settle
    await clock.advance(1_000)
    await until('that one too', () => attempts().length === 10)
    await stop()
  })

  test('an abort waits for what is still to be settled', async () => {
    const setup = setUpDispatcher()
    setup.deliveries.failures.settle.push(busy())
    const { clock, logger, attempts, stop } = running(1, setup)
    await until('a refusal', () => logger.lines.length === 1)
    const stopped = stop()
    await clock.advance(188)
    await stopped
    expect(attempts()).toMatchObject([{ outcome: 'delivered' }])
  })
})
