/** Tests of `runOnce`. */
import { describe, expect, test } from 'vitest'
import { busy, ok, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { numbered } from '../../test/support/outbox.js'

describe('runOnce', () => {
  test('attempts everything that is due, in as many claims as it takes, and nothing that is not', async () => {
    const { dispatcher, deliveries, posts, clock } = setUpDispatcher({ batch: 3, concurrency: 5 })
    await deliveries.add(...numbered(20))
    await deliveries.add({ name: 'later', dueAt: clock.now() + 1 })
    expect(await dispatcher.runOnce()).toBe(20)
    expect(posts).toHaveLength(20)
    expect(Math.max(...deliveries.claimLimits)).toBe(3)
    expect((await deliveries.view('later')).attempts).toEqual([])
    expect(await dispatcher.runOnce()).toBe(0)
  })

  test('rejects with the error of a claim, after its posts have settled', async () => {
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
})
