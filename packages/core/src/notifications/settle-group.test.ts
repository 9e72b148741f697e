import { describe, expect, test } from 'vitest'
import { busy, running, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { until } from '../../test/support/until.js'
import { StoreError } from '../errors.js'
import { maxHalvingMs } from './settler.js'

const full = () => new StoreError('ERR_STORE_FULL', 'no space left')

describe('a group that the store refuses', () => {
  test('two attempts refused as busy wait alone; the other 254 are settled, and nothing is posted twice', async () => {
    const setup = setUpDispatcher({ concurrency: 1_000, batch: 1_000 })
    const { settle } = setup.deliveries
    const poisoned = new Set(['4', '201'])
    setup.deliveries.settle = async (group, judge) => {
      if (group.some(({ claim }) => poisoned.has(claim.deliveryId))) throw busy()
      return settle(group, judge)
    }
    const { clock, deliveries, attempts, logger, posts, stop } = await running(256, setup)
    await until('the others', () => logger.lines.length === 1)
    expect(await deliveries.count({ status: 'delivered' })).toBe(254)
    expect(logger.lines).toMatchObject([{ fields: { error: 'ERR_STORE_BUSY: database is locked', attempts: 2 } }])
    expect(await deliveries.count({ status: 'pending' })).toBe(2)
    poisoned.clear()
    await clock.advance(1_000)
    await until('those two', () => attempts().length === 256)
    expect(posts).toHaveLength(256)
    await stop()
  })

  test('a full store gets five settles, not one for each attempt, before the whole group is tried again', async () => {
    const setup = setUpDispatcher({ concurrency: 1_000, batch: 1_000, idlePollMs: 100_000 })
    const { settle } = setup.deliveries
    const tried: number[] = []
    setup.deliveries.settle = async (group) => {
      tried.push(group.length)
      throw full()
    }
    const { clock, deliveries, attempts, logger, posts, stop } = await running(256, setup)
    await until('the end of the tries', () => logger.lines.length === 1)
    expect(tried).toEqual([256, 128, 128, 64, 64])
    expect(logger.lines).toMatchObject([{ fields: { error: 'ERR_STORE_FULL: no space left', attempts: 256 } }])
    deliveries.settle = settle
    await clock.advance(1_000)
    await until('all of them', () => attempts().length === 256)
    expect(posts).toHaveLength(256)
    await stop()
  })

  test('four refused attempts, one in each quarter, wait alone', async () => {
    const setup = setUpDispatcher({ concurrency: 1_000, batch: 1_000, idlePollMs: 100_000 })
    const { settle } = setup.deliveries
    setup.deliveries.settle = async (group, judge) => {
      if (group.some(({ claim }) => ['4', '101', '151', '251'].includes(claim.deliveryId)))
        throw new TypeError('no such column')
      return settle(group, judge)
    }
    const { clock, deliveries, attempts, logger, stop } = await running(256, setup)
    await until('the others', () => logger.lines.length === 1)
    expect(await deliveries.count({ status: 'delivered' })).toBe(252)
    deliveries.settle = settle
    await clock.advance(1_000)
    await until('those too', () => attempts().length === 256)
    await stop()
  })

  test(`a store that slowly refuses everything gets halves for ${maxHalvingMs / 1_000} s before the whole group`, async () => {
    const setup = setUpDispatcher({ idlePollMs: 100_000 })
    const tried: [size: number, atMs: number][] = []
    const startedAt = setup.clock.now()
    setup.deliveries.settle = async (group) => {
      tried.push([group.length, setup.clock.now() - startedAt])
      await setup.clock.sleep(3_000)
      throw busy()
    }
    const { clock, deliveries, stop } = await running(16, setup)
    await until('the whole', () => tried.length === 1)
    deliveries.extendLeases(600_000)
    await clock.advance(15_188)
    expect(tried).toEqual([
      [16, 0],
      [8, 3_000],
      [8, 6_000],
      [4, 9_000],
      [4, 12_000],
      [16, 15_188],
    ])
    const stopped = stop()
    await clock.advance(60_000)
    await stopped
  })
})
