import { expect, test } from 'vitest'
import { type ChainCall, fakeChain } from '../../test/support/fake-chain.js'
import { down, failing, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { until } from '../../test/support/until.js'
import { StoreError } from '../errors.js'

test.each([
  ['startBlock', -1],
  ['startBlock', 1.5],
  ['startBlock', Number.NaN],
  ['pollMs', 0],
  ['leaseMs', 99],
  ['leaseMs', Number.POSITIVE_INFINITY],
  ['finalityBlocks', -1],
])('%s of %d is a RangeError that names it', (option, value) => {
  expect(() => setUpIndexer({ [option]: value })).toThrow(RangeError)
  expect(() => setUpIndexer({ [option]: value })).toThrow(`${option} is ${value}`)
})

test('an indexer reads every block once, in ranges, and commits payments with the checkpoint', async () => {
  const { chain, store, catchUp, ranges, checkpoint, ofType, indexer } = setUpIndexer({ maxRange: 4 })
  chain.mine(9, paymentAt)
  await catchUp()
  expect(ranges()).toEqual(['0-0', '1-4', '5-8', '9-9'])
  expect(store.committed.payments.length).toBe(9)
  expect(store.committed.snapshots).toHaveLength(9)
  expect(await checkpoint()).toEqual({ blockNumber: 9, blockHash: chain.at(9).hash })
  expect(ofType('payment.indexed').map(({ blockNumber }) => blockNumber)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(ofType('chain.indexed')).toEqual(
    [0, 4, 8, 9].map((blockNumber) => ({ type: 'chain.indexed', chainId: 1, blockNumber, head: 9 })),
  )
  expect(indexer.status()).toEqual({
    ...{ chainId: 1, head: 9, headAt: chain.at(9).timestamp, indexed: 9, proof: 'root', reorganisations: 0 },
    ...{ newestReorganisations: [], leading: true, nodes: chain.nodes(), error: null, lastError: null },
  })
})

test('step resolves false while blocks are left, true at the head, and true when nothing is new', async () => {
  const { chain, indexer, ranges } = setUpIndexer({ maxRange: 2 })
  chain.mine(4)
  expect(await indexer.step()).toBe(false)
  expect(ranges()).toEqual(['0-0'])
  expect(await indexer.step()).toBe(true)
  expect(await indexer.step()).toBe(true)
  expect(ranges()).toHaveLength(3)
})

test('each range is committed before the next one, while further ones are read ahead', async () => {
  const { chain, store, catchUp, ranges } = setUpIndexer({ maxRange: 2 })
  await catchUp()
  chain.mine(10)
  chain.readAhead = 2
  const readAtCommit: unknown[] = []
  store.beforeTransaction = () => readAtCommit.push(ranges().length)
  await catchUp()
  expect(readAtCommit.shift()).toBe(1) // the note of the routers
  // Genesis, then three of five ranges before the first commit, and one more before each further one.
  expect(readAtCommit).toEqual([4, 5, 6, 6, 6])
})

test('a failure between ranges keeps the commits; the next step goes on behind them', async () => {
  const { chain, indexer, catchUp, ranges, checkpoint } = setUpIndexer({ maxRange: 2 })
  await catchUp()
  chain.mine(6)
  chain.intercept = ([kind, from]) => {
    if (kind === 'range' && from === 5) throw down()
    return undefined
  }
  await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  expect(await checkpoint()).toMatchObject({ blockNumber: 4 })
  expect(indexer.status()).toMatchObject({ indexed: 4, error: 'ERR_CHAIN_UNAVAILABLE: no answer from the node' })
  chain.intercept = null
  await catchUp()
  expect(ranges().slice(-2)).toEqual(['5-6', '5-6'])
  expect(indexer.status()).toMatchObject({ indexed: 6, error: null })
})

test('the reported proof level is that of the newest range', async () => {
  const { chain, indexer, catchUp, store } = setUpIndexer()
  chain.proof = 'bloom'
  chain.mine(3)
  await catchUp()
  expect(indexer.status().proof).toBe('bloom')
  chain.proof = 'root'
  chain.mine(1)
  await catchUp()
  expect(indexer.status().proof).toBe('root')
  const proofs = (await store.chains.proofs(1, 10)).map(({ from, to, proof }) => `${from}-${to} ${proof}`)
  expect(proofs).toEqual(['4-4 root', '0-3 bloom'])
})

test('`head` is decided once: neither failures nor a restart skip a later block', async () => {
  const before = setUpIndexer({ startBlock: 'head' })
  before.chain.mine(7)
  before.chain.intercept = failing('range', [down()])
  await before.indexer.step()
  await expect(before.indexer.step()).rejects.toThrow()
  before.chain.mine(3)
  const after = setUpIndexer({ startBlock: 'head' }, before)
  await after.catchUp()
  expect(after.ranges().at(-1)).toBe('7-10')
})

test('a commit that the store rejects is retried as a whole', async () => {
  const { chain, store, indexer, catchUp, events, checkpoint } = setUpIndexer()
  chain.mine(3, paymentAt)
  await indexer.step()
  events.length = 0
  store.failures.push(new StoreError('ERR_STORE_FULL', 'no space left'))
  await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_STORE_FULL' })
  expect(events).toEqual([])
  expect(await checkpoint()).toMatchObject({ blockNumber: 0 })
  expect(indexer.status()).toMatchObject({ indexed: 0, error: 'ERR_STORE_FULL: no space left' })
  await catchUp()
  expect(store.committed.payments.length).toBe(3)
  expect(indexer.status()).toMatchObject({ indexed: 3, error: null })
})

test('an indexer that loses every race retries after the poll interval', async () => {
  const { chain, store, indexer, clock, events, failures, waits } = setUpIndexer()
  chain.mine(3)
  store.payments.checkpoint = async () => null
  let height = 10
  store.beforeTransaction = () => {
    height += 1
    const values = [height, hashOf('another')]
    store.sql('insert into checkpoints (chain_id, block_number, block_hash) values (1, ?, ?)', ...values)
  }
  await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_MOVED' })
  expect(chain.calls.filter(([kind]) => kind === 'head')).toHaveLength(4)
  const stop = new AbortController()
  const run = indexer.run(stop.signal)
  await until('the wait', () => waits().length === 1)
  await clock.advance(3_000)
  stop.abort()
  await run
  expect(waits()).toEqual([1_000, 1_000, 1_000, 1_000])
  expect(events).toEqual([])
  expect(failures()).toEqual([])
  expect(indexer.status().error).toBeNull()
})

test('a range on another parent is rejected while the node still answers the checkpoint', async () => {
  const { chain, indexer, catchUp, checkpoint, ofType } = setUpIndexer()
  chain.mine(5)
  await catchUp()
  chain.mine(2)
  const stray = { ...chain.at(6), parentHash: `0x${'57'.repeat(32)}` }
  chain.intercept = ([kind]) => (kind === 'range' ? { ...chain.rangeOf(6, 7), first: stray } : undefined)
  await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  expect(indexer.status().error).toContain('two hashes for block 5')
  expect(await checkpoint()).toMatchObject({ blockNumber: 5 })
  expect(ofType('chain.reorganised')).toEqual([])
  chain.intercept = null
  await catchUp()
  expect(await checkpoint()).toMatchObject({ blockNumber: 7 })
})

test.each([
  ['begins late', 2, 5, 'Blocks 1 to 5 of chain 1 were requested, 2 to 5 came', 0],
  ['begins early', 0, 5, 'Blocks 1 to 5 of chain 1 were requested, 0 to 5 came', 0],
  ['ends late', 1, 6, 'Blocks 1 to 5 of chain 1 were requested, 1 to 6 came', 0],
  ['ends early', 1, 4, 'Blocks 5 to 5 of chain 1 were requested, none came', 4],
])('an answer that %s is rejected, so that no block is skipped', async (_case, first, last, message, indexed) => {
  const { chain, indexer, catchUp, checkpoint } = setUpIndexer()
  await catchUp()
  chain.mine(5)
  chain.intercept = ([kind]) => {
    if (kind === 'head') return chain.at(5)
    return kind === 'range' ? chain.rangeOf(first, last) : undefined
  }
  chain.mine(1)
  await expect(indexer.step()).rejects.toThrow(message)
  expect(await checkpoint()).toMatchObject({ blockNumber: indexed })
})

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

/** Lets a third holder take the lease during a call: of this kind, from this height. */
const losing =
  (kind: ChainCall[0], { clock, store }: Pick<ReturnType<typeof setUp>, 'clock' | 'store'>, from?: number) =>
  async (call: ChainCall) => {
    if (call[0] !== kind || (from !== undefined && call[1] !== from)) return
    await clock.advance(20_000)
    await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 60_000 })
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
  chain.intercept = losing('range', { clock, store }, 3)
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
  chain.intercept = losing('head', { clock, store })
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
  const lose = losing('head', { clock, store })
  chain.intercept = (call) => {
    if (call[0] === 'head') chain.intercept = null
    return lose(call)
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
  expect(restarted.backfills()).toEqual(['0-0'])
  chain.intercept = losing('head', { clock, store })
  await restarted.indexer.step()
  expect(restarted.ofType('chain.backfilled')).toEqual([])
  expect(await store.chains.coverage(1)).toHaveLength(1)
})
