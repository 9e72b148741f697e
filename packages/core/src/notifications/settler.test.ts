import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { beforeSettle, busy, ok, running, setUpDispatcher } from '../../test/support/dispatcher-setup.js'
import { getAddress, getUrl } from '../../test/support/outbox.js'
import { deferred, until } from '../../test/support/until.js'
import { StoreError } from '../errors.js'
import { maxGatherTurns, maxHalvingMs, maxParallelCommits, maxPerCommit, slowCommitMs } from './settler.js'

/** The sizes of the commits of deliveries that are answered so many turns of the event loop after they were posted. */
async function getGroups(turnsOfEach: readonly number[]) {
  const setup = setUpDispatcher({}, async ({ url }) => {
    for (let left = Number(url); left > 0; left -= 1) await nextTurn()
    return ok
  })
  const { deliveries, events } = setup
  await deliveries.add(
    ...turnsOfEach.map((count, index) => {
      return { name: `d${index}`, notificationUrl: `${count}`, integrationAddress: getAddress(`shop ${index}`) }
    }),
  )
  const { stop } = await running(0, setup)
  await until('all settled', () => events.length === turnsOfEach.length)
  await stop()
  return deliveries.groups
}

test('answers that arrive in turns that follow each other are settled in one transaction', async () => {
  expect(await getGroups([1, 2, 3, 4, 5, 6])).toEqual([6])
})

test('answers that keep arriving postpone no commit without end', async () => {
  const groups = await getGroups(Array.from({ length: 3 * maxGatherTurns }, (_, turn) => 1 + turn))
  // The first has what arrived while it waited; later ones have what arrived during the commit before, too.
  expect(groups[0]).toBeLessThanOrEqual(maxGatherTurns + 1)
  expect(groups.length).toBeGreaterThan(1)
})

test('a turn that brings nothing ends the wait', async () => {
  expect(await getGroups([1, 8])).toEqual([1, 1])
})

test(`no commit has more than ${maxPerCommit} attempts`, async () => {
  const { deliveries, events, stop } = await running(700, setUpDispatcher({ concurrency: 1_000, batch: 1_000 }))
  await until('all settled', () => events.length === 700)
  await stop()
  expect(deliveries.groups).toEqual([256, 256, 188])
})

test('results are settled once the store works within their lease; nothing is posted twice', async () => {
  const setup = setUpDispatcher()
  const worksFrom = setup.clock.now() + 500
  const groups: number[] = []
  beforeSettle(setup, (group) => {
    groups.push(group.length)
    if (setup.clock.now() < worksFrom) throw busy()
  })
  const { clock, deliveries, posts, events, logger, stop } = await running(20, setup)
  await until('a rejection', () => logger.lines.length === 1)
  await clock.advance(10_000)
  await until('all settled', () => events.length === 20)
  await clock.advance(60_000)
  await stop()
  expect(posts).toHaveLength(20)
  expect(await deliveries.count({ status: 'delivered' })).toBe(20)
  // Halving tried each attempt alone, twice. Then the whole group is settled at once.
  const rejected = [20, 10, 10, 5, 5, 3, 2, 2, 1, 1, 1, 1, 1, 3, 2, 2, 1, 1, 1, 1, 1]
  const pass = [...rejected, 5, 5, ...rejected.slice(5)]
  expect(groups).toEqual([...pass, ...pass, 20])
  const line = { fields: { attempts: 20 }, message: 'attempts not settled; trying again' }
  expect(logger.lines).toMatchObject([line, line])
})

test('a failed settle is tried again after a quarter of a second at first, and later every second', async () => {
  const setup = setUpDispatcher({ idlePollMs: 100_000 })
  setup.deliveries.failures.settle.push(...Array.from({ length: 6 }, busy))
  const { clock, events, stop } = await running(1, setup)
  await until('a sleep', () => clock.sleepers().length === 2)
  await clock.advance(10_000)
  expect(events).toHaveLength(1)
  expect(clock.slept.filter((ms) => ms <= 1_000)).toEqual([188, 375, 750, 1_000, 1_000, 1_000])
  await stop()
})

test('after the lease a result is tried once more, then dropped and logged; the delivery is due as the same attempt', async () => {
  const setup = setUpDispatcher()
  setup.deliveries.failures.settle.push(...Array.from({ length: 40 }, busy))
  const { clock, deliveries, posts, logger, attempts, stop } = await running(1, setup)
  await until('a rejection', () => logger.lines.length === 1)
  await clock.advance(14_900)
  expect(posts).toHaveLength(1)
  const tries = deliveries.groups.length
  await clock.advance(2_000)
  expect(posts).toHaveLength(2)
  expect(deliveries.groups.length).toBeGreaterThan(tries)
  const dropped = logger.lines.filter(({ message }) => message.includes('not settled within its lease'))
  expect(dropped).toMatchObject([{ level: 'error', fields: { deliveryId: '1', attempt: 1 } }])
  deliveries.failures.settle.length = 0
  await clock.advance(1_000)
  await until('the second attempt', () => attempts().length === 1)
  await stop()
  expect(attempts()).toMatchObject([{ attempt: 1, outcome: 'delivered' }])
  expect((await deliveries.view('d0')).attempts).toHaveLength(1)
})

test('while the store is unreachable results outlive their lease, and are settled once it answers', async () => {
  const setup = setUpDispatcher()
  const { claim } = setup.deliveries
  let isAway = true
  const checkStore = () => {
    if (isAway) throw new StoreError('ERR_STORE_UNAVAILABLE', 'connection refused')
  }
  beforeSettle(setup, checkStore)
  const { clock, deliveries, attempts, posts, logger, stop } = await running(5, setup)
  await until('a rejection', () => logger.lines.length === 1)
  setup.deliveries.claim = async (request) => {
    checkStore()
    return claim(request)
  }
  deliveries.extendLeases(600_000)
  await clock.advance(300_000)
  isAway = false
  await clock.advance(1_000)
  await until('the results', () => attempts().length === 5)
  expect(posts).toHaveLength(5)
  await stop()
})

test('a commit that is not answered delays the next commits for two seconds only', async () => {
  const never = deferred()
  const setup = setUpDispatcher({}, async ({ url }) => {
    if (url !== getUrl(getAddress('d0'))) await setup.clock.sleep(100)
    return ok
  })
  beforeSettle(setup, (group) => (group.some(({ claim }) => claim.deliveryId === '1') ? never.promise : undefined))
  const { clock, attempts, logger, stop } = await running(50, setup)
  await until('the first commit', () => setup.posts.length === 50)
  await clock.advance(1_999)
  expect(attempts()).toHaveLength(0)
  await clock.advance(1)
  await until('the others', () => attempts().length === 49)
  expect(logger.lines.map(({ message }) => message)).toEqual(['slow commit; the next one begins beside it'])
  never.resolve()
  await until('that one too', () => attempts().length === 50)
  await stop()
})

test('a commit that is not answered but was committed has its events published from the attempt log', async () => {
  const setup = setUpDispatcher({}, ({ url }) => ({ ...ok, status: url === getUrl(getAddress('d3')) ? 500 : 204 }))
  const { settle } = setup.deliveries
  setup.deliveries.settle = async (group, judge) => {
    setup.deliveries.settle = settle
    await settle(group, judge)
    throw new StoreError('ERR_STORE_UNAVAILABLE', 'connection lost')
  }
  const { attempts, deliveries, stop } = await running(5, setup)
  await until('the events', () => attempts().length === 5)
  await stop()
  const outcomes = ['1 delivered', '2 delivered', '3 delivered', '4 pending', '5 delivered']
  expect(attempts().map(({ outcome, deliveryId }) => `${deliveryId} ${outcome}`)).toEqual(outcomes)
  expect((await deliveries.view('d3')).attempts).toHaveLength(1)
})

test(`a commit that is not answered runs beside ${maxParallelCommits - 1} others at most`, async () => {
  const never = deferred()
  const setup = setUpDispatcher()
  let [settling, most] = [0, 0]
  beforeSettle(setup, async () => {
    settling += 1
    most = Math.max(most, settling)
    await never.promise
    settling -= 1
  })
  const { clock, deliveries, attempts, dispatcher, stop } = await running(1, setup)
  for (let index = 1; index <= 10; index += 1) {
    await deliveries.add({ name: `d${index}`, integrationAddress: getAddress(`0x${index}`) })
    dispatcher.wake()
    await clock.advance(slowCommitMs)
  }
  expect(most).toBe(maxParallelCommits)
  never.resolve()
  await until('all', () => attempts().length === 11)
  await stop()
})

test.each([
  ['two attempts that are rejected as busy', ['4', '201'], busy(), 'ERR_STORE_BUSY: database is locked'],
  ['four rejected attempts, one in each quarter,', ['4', '101', '151', '251'], new TypeError('no column'), 'TypeError'],
])('%s wait alone; the others are settled, and nothing is posted twice', async (_what, rejected, error, logged) => {
  const setup = setUpDispatcher({ concurrency: 1_000, batch: 1_000, idlePollMs: 100_000 })
  const poisoned = new Set(rejected)
  beforeSettle(setup, (group) => {
    if (group.some(({ claim }) => poisoned.has(claim.deliveryId))) throw error
  })
  const { clock, deliveries, attempts, logger, posts, stop } = await running(256, setup)
  await until('the others', () => logger.lines.length === 1)
  expect(await deliveries.count({ status: 'delivered' })).toBe(256 - rejected.length)
  expect(logger.lines).toMatchObject([{ fields: { error: logged, attempts: rejected.length } }])
  expect(await deliveries.count({ status: 'pending' })).toBe(rejected.length)
  poisoned.clear()
  await clock.advance(1_000)
  await until('those too', () => attempts().length === 256)
  expect(posts).toHaveLength(256)
  await stop()
})

test('a full store gets five settles, not one for each attempt, before the whole group is tried again', async () => {
  const setup = setUpDispatcher({ concurrency: 1_000, batch: 1_000, idlePollMs: 100_000 })
  const { settle } = setup.deliveries
  const tried: number[] = []
  setup.deliveries.settle = async (group) => {
    tried.push(group.length)
    throw new StoreError('ERR_STORE_FULL', 'no space left')
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

test(`a store that slowly rejects every settle gets halves for ${maxHalvingMs / 1_000} s before the whole group`, async () => {
  const setup = setUpDispatcher({ idlePollMs: 100_000 })
  const tried: string[] = []
  const startedAt = setup.clock.now()
  setup.deliveries.settle = async (group) => {
    tried.push(`${group.length} at ${setup.clock.now() - startedAt}`)
    await setup.clock.sleep(3_000)
    throw busy()
  }
  const { clock, deliveries, stop } = await running(16, setup)
  await until('the whole', () => tried.length === 1)
  deliveries.extendLeases(600_000)
  await clock.advance(15_188)
  expect(tried).toEqual(['16 at 0', '8 at 3000', '8 at 6000', '4 at 9000', '4 at 12000', '16 at 15188'])
  const stopped = stop()
  await clock.advance(60_000)
  await stopped
})
