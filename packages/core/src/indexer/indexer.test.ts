import { expect, test } from 'vitest'
import { type ChainCall, fakeChain } from '../../test/support/fake-chain.js'
import { down, failing, paymentAt, setUpIndexed, setUpIndexer } from '../../test/support/indexer-setup.js'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { deferred, start, until } from '../../test/support/until.js'

test.each([
  ['startBlock', -1],
  ['pollMs', 0],
  ['leaseMs', 99],
  ['finalityBlocks', -1],
])('%s of %d is a RangeError that names it', (option, value) => {
  expect(() => setUpIndexer({ [option]: value })).toThrow(RangeError)
  expect(() => setUpIndexer({ [option]: value })).toThrow(`${option} is ${value}`)
})

test('an indexer reads every block once, in ranges, and commits payments with the checkpoint', async () => {
  const setup = await setUpIndexed(9, { maxRange: 4 }, paymentAt)
  const { chain, store, ranges, checkpoint, ofType, indexer } = setup
  expect(ranges()).toEqual(['0-0', '1-4', '5-8', '9-9'])
  expect(store.committed.payments.length).toBe(9)
  expect(store.committed.snapshots).toHaveLength(9)
  expect(await checkpoint()).toEqual({ blockNumber: 9, blockHash: chain.at(9).hash })
  expect(ofType('payment.indexed').map(({ blockNumber }) => blockNumber)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(ofType('chain.indexed')).toEqual(
    [0, 4, 8, 9].map((blockNumber) => ({ type: 'chain.indexed', chainId: 1, blockNumber, head: 9 })),
  )
  expect(indexer.status()).toEqual({
    ...{ chainId: 1, head: 9, headAt: chain.at(9).timestamp, indexed: 9, proof: 'root', reorgs: 0 },
    ...{ newestReorgs: [], leading: true, nodes: chain.nodes(), error: null, lastError: null },
  })
})

test('each range is committed before the next one, while further ones are read ahead', async () => {
  const { chain, store, catchUp, ranges } = await setUpIndexed(0, { maxRange: 2 })
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
  const { chain, indexer, catchUp, ranges, checkpoint } = await setUpIndexed(0, { maxRange: 2 })
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
  const { chain, indexer, catchUp } = setUpIndexer()
  chain.proof = 'bloom'
  chain.mine(3)
  await catchUp()
  expect(indexer.status().proof).toBe('bloom')
  chain.proof = 'root'
  chain.mine(1)
  await catchUp()
  expect(indexer.status().proof).toBe('root')
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
  await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_CHANGED' })
  expect(chain.calls.filter(([kind]) => kind === 'head')).toHaveLength(4)
  const loop = start(indexer)
  await until('the wait', () => waits().length === 1)
  await clock.advance(3_000)
  await loop.stop()
  expect(waits()).toEqual([1_000, 1_000, 1_000, 1_000])
  expect(events).toEqual([])
  expect(failures()).toEqual([])
  expect(indexer.status().error).toBeNull()
})

test('a range on another parent is rejected while the node still answers the checkpoint', async () => {
  const { chain, indexer, catchUp, checkpoint, ofType } = await setUpIndexed(5)
  chain.mine(2)
  const stray = { ...chain.at(6), parentHash: `0x${'57'.repeat(32)}` }
  chain.intercept = ([kind]) => (kind === 'range' ? { ...chain.rangeOf(6, 7), first: stray } : undefined)
  await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  expect(indexer.status().error).toContain('two hashes for block 5')
  expect(await checkpoint()).toMatchObject({ blockNumber: 5 })
  expect(ofType('chain.reorganized')).toEqual([])
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
  const { chain, indexer, checkpoint } = await setUpIndexed(0)
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
function setUp(options: Parameters<typeof setUpIndexer>[0] = { maxRange: 2 }) {
  const clock = manualClock()
  const chain = fakeChain()
  const store = openStore({ clock })
  const parts = { chain, store, clock, leases: store.leases }
  const [first, second] = [setUpIndexer(options, parts), setUpIndexer(options, parts)]
  const leading = () => [first, second].map(({ indexer }) => indexer.status().leading)
  /** The last blocks of the ranges that either committed. */
  const committed = () =>
    [first, second].flatMap(({ ofType }) => ofType('chain.indexed').map((event) => event.blockNumber))
  /** Lets a third holder take the lease during the next call of this kind, from this height. */
  const loseLeaseDuring = (kind: ChainCall[0], from?: number) => {
    chain.intercept = async (call) => {
      if (call[0] !== kind || (from !== undefined && call[1] !== from)) return
      chain.intercept = null
      await clock.advance(20_000)
      await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 60_000 })
    }
  }
  return { ...parts, parts, first, second, leading, committed, loseLeaseDuring }
}

test('an indexer that stands by does not subscribe, and takes over after a clean stop; no block is committed twice', async () => {
  const { clock, chain, store, first, second, leading, committed } = setUp()
  const firstLoop = start(first.indexer)
  await until('the first', () => first.indexer.status().indexed === 0)
  const secondLoop = start(second.indexer)
  chain.mine(5, paymentAt)
  await clock.advance(60_000)
  expect([leading(), chain.watchers()]).toEqual([[true, false], 1])
  expect(second.indexer.status()).toMatchObject({ head: null, indexed: 5 })
  await firstLoop.stop()
  expect(leading()).toEqual([false, false])
  chain.mine(5, paymentAt)
  await clock.advance(1_000)
  expect(leading()).toEqual([false, true])
  await until('the second at the head', () => second.indexer.status().indexed === 10)
  await secondLoop.stop()
  expect(committed()).toEqual([...new Set(committed())].sort((a, b) => a - b))
  expect(store.committed.snapshots).toHaveLength(10)
  expect(await store.leases.acquire({ name: 'indexer:1', holder: 'a third', ttlMs: 1 })).toBe(true)
})

test('an indexer that lost its lease commits nothing, even before another one goes on', async () => {
  const { chain, first, leading, loseLeaseDuring } = setUp()
  await first.catchUp()
  chain.mine(6, paymentAt)
  loseLeaseDuring('range', 3)
  expect(await first.indexer.step()).toBe(true)
  expect(await first.checkpoint()).toMatchObject({ blockNumber: 2 })
  expect(leading()).toEqual([false, false])
})

test('an indexer that lost its lease stores no start', async () => {
  const { chain, first, loseLeaseDuring } = setUp({ startBlock: 3 })
  chain.mine(5)
  loseLeaseDuring('head')
  expect(await first.indexer.step()).toBe(true)
  expect(await first.checkpoint()).toBeNull()
})

test('an indexer that lost its lease rolls nothing back', async () => {
  const { clock, chain, first, second, loseLeaseDuring } = setUp()
  chain.mine(2)
  await first.catchUp()
  chain.fork(1)
  chain.mine(1)
  loseLeaseDuring('head')
  expect(await first.indexer.step()).toBe(true)
  expect(first.ofType('chain.reorganized')).toEqual([])
  await clock.advance(60_000)
  await second.catchUp()
  expect(second.ofType('chain.reorganized')).toHaveLength(1)
})

test('an indexer that lost its lease commits no backfill', async () => {
  const { clock, chain, store, parts, first, loseLeaseDuring } = setUp()
  await first.catchUp()
  await first.catchUp()
  await clock.advance(15_000)
  chain.routers = [...chain.routers, 'another']
  const restarted = setUpIndexer({}, parts)
  await restarted.indexer.step()
  await turns()
  expect(restarted.backfills()).toEqual(['0-0'])
  loseLeaseDuring('head')
  await restarted.indexer.step()
  expect(restarted.ofType('chain.backfilled')).toEqual([])
  expect(await store.chains.coverage(1)).toHaveLength(1)
})

test('a loop catches up without sleeping, then reads the head every poll interval', async () => {
  const { chain, indexer, clock, ranges, waits } = setUpIndexer({ maxRange: 2, pollMs: 400 })
  chain.mine(9)
  const loop = start(indexer)
  await until('the head', () => waits().length === 1)
  expect(ranges()).toHaveLength(6)
  expect(waits()).toEqual([400])
  chain.mine(1)
  await clock.advance(399)
  expect(indexer.status().indexed).toBe(9)
  await clock.advance(1)
  expect(indexer.status().indexed).toBe(10)
  await loop.stop()
  expect(clock.sleepers()).toEqual([])
})

test('a loop backs off exponentially, reports an outage once, and recovers by itself', async () => {
  const { chain, indexer, clock, ofType, failures, waits } = setUpIndexer()
  chain.mine(3)
  const errors = Array.from({ length: 10 }, down)
  chain.intercept = failing('head', errors)
  const loop = start(indexer)
  await until('the first failure', () => waits().length === 1)
  expect(ofType('chain.failed')).toEqual([])
  expect(indexer.status().error).toBe('ERR_CHAIN_UNAVAILABLE: no answer from the node')
  await clock.advance(250 + 500)
  expect(ofType('chain.failed')).toEqual([
    { type: 'chain.failed', chainId: 1, message: 'ERR_CHAIN_UNAVAILABLE: no answer from the node' },
  ])
  await clock.advance(10 * 60_000)
  expect(waits().slice(0, 10)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  expect(ofType('chain.failed')).toHaveLength(1)
  expect(failures()).toHaveLength(10)
  expect(indexer.status()).toMatchObject({ indexed: 3, error: null })
  const recovered = waits().length
  chain.intercept = failing('head', Array.from({ length: 3 }, down))
  await clock.advance(60_000)
  expect(ofType('chain.failed')).toHaveLength(2)
  expect(waits().slice(recovered, recovered + 4)).toEqual([250, 500, 1_000, 1_000])
  await loop.stop()
})

test('a reorg beyond finality is reported at once, once, and checked every 30 seconds', async () => {
  const { chain, indexer, clock, catchUp, ofType, failures, waits, checkpoint } = await setUpIndexed(100, {
    finalityBlocks: 5,
  })
  await catchUp()
  const right = chain.rangeOf(0, 100)
  chain.fork(6)
  chain.mine(1)
  const loop = start(indexer)
  await until('the failure', () => waits().length === 1)
  expect(ofType('chain.failed')).toMatchObject([{ message: expect.stringContaining('ERR_CHAIN_REORG_TOO_DEEP') }])
  // Announced blocks do not shorten the wait.
  chain.wake()
  await clock.advance(60_000)
  expect(waits()).toEqual([30_000, 30_000, 30_000])
  expect(ofType('chain.failed')).toHaveLength(1)
  expect(failures().map(({ level }) => level)).toEqual(['error', 'error', 'error'])
  expect(await checkpoint()).toMatchObject({ blockNumber: 100 })
  expect(indexer.status()).toMatchObject({ indexed: 100, leading: true, reorgs: 0 })
  expect(indexer.status().error).toContain('ERR_CHAIN_REORG_TOO_DEEP')
  // The node shows the stored blocks again.
  chain.intercept = (call) => {
    if (call[0] === 'head') return right.last
    return call[0] === 'block' ? right.blocks[call[1]] : undefined
  }
  await clock.advance(30_000)
  expect(indexer.status().error).toBeNull()
  await loop.stop()
})

test('a block that a node announces is read at once', async () => {
  const { chain, indexer, clock, waits } = setUpIndexer()
  const loop = start(indexer)
  await until('the head', () => waits().length === 1)
  expect(chain.watchers()).toBe(1)
  chain.mine(1)
  chain.wake()
  await until('the block', () => indexer.status().indexed === 1)
  await until('the next wait', () => waits().length === 2)
  expect(clock.now()).toBe(Date.UTC(2026, 0, 1))
  await loop.stop()
  expect(chain.watchers()).toBe(0)
})

test('an abort while the node hangs ends the loop, without an error and without a commit', async () => {
  const { chain, indexer, store, failures, waits } = setUpIndexer()
  chain.mine(3)
  chain.intercept = ([kind], signal) =>
    kind === 'range'
      ? new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      : undefined
  const loop = start(indexer)
  await until('the question', () => chain.calls.some(([kind]) => kind === 'range'))
  await loop.stop()
  expect(store.committed.heights).toEqual([])
  expect(failures()).toEqual([])
  expect(indexer.status().error).toBeNull()
  expect(waits()).toEqual([])
})

test('an abort during a commit lets it finish, and ends the loop after it', async () => {
  const { chain, indexer, catchUp, store, events } = await setUpIndexed(0, { maxRange: 2 })
  await catchUp()
  events.length = 0
  chain.mine(9)
  const committing = deferred()
  const release = deferred()
  const transaction = store.transaction
  store.transaction = async (work) => {
    committing.resolve()
    await release.promise
    return transaction(work)
  }
  const loop = start(indexer)
  await committing.promise
  loop.abort()
  await turns()
  release.resolve()
  await loop.stop()
  expect(indexer.status().indexed).toBe(2)
  expect(events).toMatchObject([{ type: 'chain.indexed', blockNumber: 2 }])
})

test('a loop polls ten times less often while blocks are announced, and at the old pace at once when that ends', async () => {
  const { chain, indexer, clock } = setUpIndexer({ pollMs: 1_000 })
  const polls = () => chain.calls.filter(([kind]) => kind === 'head').length
  const loop = start(indexer)
  await until('the subscription', () => chain.watchers() === 1)
  await clock.advance(1_000)
  const pollsIn = async (ms: number) => {
    const before = polls()
    await clock.advance(ms)
    return polls() - before
  }
  expect(await pollsIn(120_000)).toBe(120)
  chain.isAnnouncing = true
  await clock.advance(1_000)
  expect(await pollsIn(120_000)).toBe(12)
  chain.isAnnouncing = false
  chain.wake()
  expect(await pollsIn(120_000)).toBe(121)
  await loop.stop()
})
