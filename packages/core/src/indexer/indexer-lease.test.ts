import { expect, test } from 'vitest'
import { fakeChain } from '../../test/support/fake-chain.js'
import { down, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { deferred, until } from '../../test/support/until.js'

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

test('one indexer indexes; the other stands by without a call to a node and without an error', async () => {
  const { chain, first, second, leading, committed } = setUp()
  chain.mine(4, paymentAt)
  await first.catchUp()
  const calls = chain.calls.length
  expect(await second.indexer.step()).toBe(true)
  expect(chain.calls).toHaveLength(calls)
  expect(leading()).toEqual([true, false])
  expect(second.indexer.status()).toMatchObject({ head: null, indexed: 4, error: null, lastError: null })
  expect(committed()).toEqual([0, 2, 4])
})

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

test('a range that takes longer than the lease keeps it while the loop runs', async () => {
  const { clock, chain, first, second, leading } = setUp()
  const stops = [start(first)]
  await until('the first', () => first.indexer.status().indexed === 0)
  stops.push(start(second))
  const answer = deferred()
  chain.intercept = ([kind]) => (kind === 'range' ? answer.promise : undefined)
  chain.mine(2, paymentAt)
  await clock.advance(120_000)
  expect(leading()).toEqual([true, false])
  answer.resolve()
  await until('the head', () => first.indexer.status().indexed === 2)
  for (const stop of stops) await stop()
})

test('an indexer that lost its lease during a read commits nothing', async () => {
  const { clock, chain, first, second, committed, leading } = setUp()
  await first.catchUp()
  chain.mine(6, paymentAt)
  chain.intercept = async ([kind, from]) => {
    if (kind !== 'range' || from !== 3) return undefined
    chain.intercept = null
    // The process is paused; the other one takes over and goes on.
    await clock.advance(20_000)
    await second.catchUp()
    return undefined
  }
  await first.catchUp()
  expect(leading()).toEqual([false, true])
  expect(committed().sort((a, b) => a - b)).toEqual([0, 2, 4, 6])
  expect(second.ofType('chain.indexed').map(({ blockNumber }) => blockNumber)).toEqual([4, 6])
  expect(first.indexer.status()).toMatchObject({ error: null, lastError: null })
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

test('the new leader closes the gaps of the old one', async () => {
  const { clock, chain, first, second } = setUp()
  for (let look = 0; look < 2; look += 1) await first.catchUp()
  await clock.advance(15_000)
  chain.mine(3, paymentAt)
  await second.catchUp()
  expect(await second.checkpoint()).toMatchObject({ blockNumber: 3 })
  await clock.advance(15_000)
  chain.mine(2, paymentAt)
  await first.catchUp()
  await turns()
  await first.catchUp()
  expect(await first.checkpoint()).toMatchObject({ blockNumber: 5 })
  expect(first.store.committed.payments.length).toBe(5)
  // The blocks that the other one read stay covered.
  expect(first.backfills()).toEqual([])
})

test('a failed lease request is an error, and is retried', async () => {
  const { chain, store, first } = setUp()
  const { acquire } = store.leases
  store.leases.acquire = async () => Promise.reject(down())
  await expect(first.indexer.step()).rejects.toThrow()
  expect(chain.calls).toEqual([])
  store.leases.acquire = acquire
  await first.catchUp()
  expect(first.indexer.status()).toMatchObject({ leading: true, error: null })
})

test('a lease that cannot be released does not delay the end', async () => {
  const { store, first } = setUp()
  store.leases.release = async () => Promise.reject(down())
  const stop = start(first)
  await until('the first', () => first.indexer.status().indexed === 0)
  await stop()
  expect(first.failures().map(({ message }) => message)).toEqual(['lease not released'])
})
