import { expect, test } from 'vitest'
import { fakeChain } from '../../test/support/fake-chain.js'
import { paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { until } from '../../test/support/until.js'

/** Two indexers of one chain on one store, with its leases. */
function setUp() {
  const clock = manualClock()
  const chain = fakeChain()
  const store = openStore({ now: () => clock.now() })
  const parts = { chain, store, clock, leases: store.leases }
  const [first, second] = [setUpIndexer({ maxRange: 2 }, parts), setUpIndexer({ maxRange: 2 }, parts)]
  const leading = () => [first, second].map(({ indexer }) => indexer.status().leading)
  /** The last blocks of the ranges that either committed. */
  const committed = () =>
    [first, second].flatMap(({ ofType }) => ofType('chain.indexed').map((event) => event.blockNumber))
  return { clock, chain, store, first, second, leading, committed }
}

function start({ indexer }: ReturnType<typeof setUpIndexer>) {
  const controller = new AbortController()
  const run = indexer.run(controller.signal)
  return async () => {
    controller.abort()
    await run
  }
}

test('after a clean stop the other indexer takes over at its next poll; no block is committed twice', async () => {
  const { clock, chain, store, first, second, leading, committed } = setUp()
  const stopFirst = start(first)
  await until('the first', () => first.indexer.status().indexed === 0)
  const stopSecond = start(second)
  chain.mine(5, paymentAt)
  await clock.advance(60_000)
  expect(leading()).toEqual([true, false])
  await stopFirst()
  expect(leading()).toEqual([false, false])
  chain.mine(5, paymentAt)
  await clock.advance(1_000)
  expect(leading()).toEqual([false, true])
  await until('the second at the head', () => second.indexer.status().indexed === 10)
  await stopSecond()
  expect(committed()).toEqual([...new Set(committed())].sort((a, b) => a - b))
  expect(store.committed.snapshots).toHaveLength(10)
  expect(await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 1 })).toBe(true)
})

test('a killed indexer is replaced when its lease ends, not before', async () => {
  const { clock, chain, first, second, leading } = setUp()
  await first.catchUp()
  const stop = start(second)
  chain.mine(3)
  await clock.advance(14_999)
  expect(second.indexer.status()).toMatchObject({ leading: false, indexed: 0 })
  await clock.advance(1_001)
  await until('the second at the head', () => second.indexer.status().indexed === 3)
  expect(leading()).toEqual([false, true])
  await stop()
})

test('an indexer that lost its lease commits nothing, even before another one goes on', async () => {
  const { clock, chain, store, first, leading } = setUp()
  await first.catchUp()
  chain.mine(6, paymentAt)
  chain.intercept = async ([kind, from]) => {
    if (kind !== 'range' || from !== 3) return undefined
    await clock.advance(20_000)
    await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 60_000 })
    return undefined
  }
  expect(await first.indexer.step()).toBe(true)
  expect(await first.checkpoint()).toMatchObject({ blockNumber: 2 })
  expect(leading()).toEqual([false, false])
})

test('an indexer that lost its lease stores no start', async () => {
  const clock = manualClock()
  const store = openStore({ now: () => clock.now() })
  const chain = fakeChain()
  chain.mine(5)
  const { indexer, checkpoint } = setUpIndexer({ startBlock: 3 }, { chain, store, clock, leases: store.leases })
  chain.intercept = async ([kind]) => {
    if (kind !== 'head') return undefined
    await clock.advance(20_000)
    await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 60_000 })
    return undefined
  }
  expect(await indexer.step()).toBe(true)
  expect(await checkpoint()).toBeNull()
})

test('an indexer that lost its lease rolls nothing back', async () => {
  const { clock, chain, first, second, store } = setUp()
  await first.catchUp()
  chain.mine(2)
  await first.catchUp()
  chain.fork(1)
  chain.mine(1)
  chain.intercept = async ([kind]) => {
    if (kind !== 'head') return undefined
    chain.intercept = null
    await clock.advance(20_000)
    await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 60_000 })
    return undefined
  }
  expect(await first.indexer.step()).toBe(true)
  expect(first.ofType('chain.reorganised')).toEqual([])
  await clock.advance(60_000)
  await second.catchUp()
  expect(second.ofType('chain.reorganised')).toHaveLength(1)
})

test('an indexer that lost its lease commits no backfill', async () => {
  const { clock, chain, store, first } = setUp()
  await first.catchUp()
  await first.catchUp()
  await clock.advance(15_000)
  chain.routers = [...chain.routers, 'another']
  const restarted = setUpIndexer({}, { chain, store, clock, leases: store.leases })
  await restarted.indexer.step()
  await turns()
  expect(restarted.backfills()).toEqual([[0, 0]])
  chain.intercept = async ([kind]) => {
    if (kind !== 'head') return undefined
    await clock.advance(20_000)
    await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 60_000 })
    return undefined
  }
  await restarted.indexer.step()
  expect(restarted.ofType('chain.backfilled')).toEqual([])
  expect(await store.chains.coverage(1)).toHaveLength(1)
})
