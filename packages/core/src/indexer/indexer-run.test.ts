import { expect, test } from 'vitest'
import { down, failing, setUpIndexed, setUpIndexer } from '../../test/support/indexer-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { deferred, start, until } from '../../test/support/until.js'

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
