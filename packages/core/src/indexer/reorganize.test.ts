import { expect, test } from 'vitest'
import { fakeChain } from '../../test/support/fake-chain.js'
import { paymentAt, setUpIndexed, setUpIndexer } from '../../test/support/indexer-setup.js'
import { openStore } from '../../test/support/store.js'
import { createFinality } from '../legacy/finality.js'
import { DeepReorgError, reorganize, storeStart } from './reorganize.js'

test.each([
  [1, 1],
  [1, 7],
  [500, 1],
  [500, 256],
])('in ranges of %d blocks, a reorg %d deep rolls back to the exact ancestor and reads on', async (maxRange, depth) => {
  const setup = await setUpIndexed(300, { maxRange }, paymentAt)
  const { chain, clock, indexer, catchUp, checkpoint, ofType, ranges, store } = setup
  chain.fork(depth, paymentAt)
  chain.mine(1, paymentAt)
  // The time of a reorg is the time of day, even if the clock was set back.
  await clock.advance(-60_000)
  expect(await indexer.step()).toBe(false)
  const reorg = { from: 300, commonAncestor: 300 - depth }
  expect(ofType('chain.reorganized')).toEqual([{ type: 'chain.reorganized', chainId: 1, ...reorg }])
  const newestReorgs = [{ at: clock.now(), ...reorg }]
  expect(indexer.status()).toMatchObject({ head: 301, indexed: 300 - depth, error: null, newestReorgs })
  expect(store.committed.heights.at(-1)).toEqual({ chainId: 1, ...(await checkpoint()) })
  const readBefore = ranges().length
  await catchUp()
  expect(ranges()[readBefore]).toMatch(new RegExp(`^${301 - depth}-`))
  expect(ofType('chain.reorganized')).toHaveLength(1)
  const kept = store.committed.heights.slice(-256)
  expect(kept).toEqual(kept.map((_, n) => ({ chainId: 1, blockNumber: 46 + n, blockHash: chain.at(46 + n).hash })))
  expect(store.committed.payments.length).toBe(301)
})

test('a reorg is not applied after another indexer moved the checkpoint', async () => {
  const { chain, indexer, store, ofType, checkpoint } = await setUpIndexed(5, { maxRange: 1 })
  chain.fork(2)
  chain.mine(1)
  const other = setUpIndexer({ maxRange: 1 }, { chain, store })
  let transactions = 0
  // The first transaction reads the checkpoints; before the second one, the other indexer rolls back and goes on.
  store.beforeTransaction = () => {
    transactions += 1
    if (transactions !== 2) return
    store.sql('delete from checkpoints where block_number > 3')
    store.sql('update checkpoints set block_hash = ? where block_number = 3', chain.at(3).hash)
  }
  await indexer.step()
  expect(ofType('chain.reorganized')).toEqual([])
  await other.catchUp()
  expect(await checkpoint()).toEqual({ blockNumber: 6, blockHash: chain.at(6).hash })
})

test('a reorg below every stored checkpoint stops the chain, changes nothing, and ends when the node is right again', async () => {
  const { chain, indexer, catchUp, checkpoint, store } = await setUpIndexed(8, { maxRange: 2, startBlock: 3 })
  const stored = store.dump()
  chain.intercept = ([kind, height = 8]) =>
    kind === 'range' ? undefined : { ...chain.at(height), hash: `0x${'f0'.repeat(32)}` }
  const broken = { code: 'ERR_CHAIN_HISTORY_BROKEN', chainId: 1, retryable: true }
  await expect(indexer.step()).rejects.toMatchObject(broken)
  expect(indexer.status().error).toContain('no stored checkpoint up to block 8 is on the chain that the node shows')
  expect(store.dump()).toEqual(stored)
  chain.intercept = null
  chain.mine(1)
  await catchUp()
  expect(indexer.status()).toMatchObject({ error: null, indexed: 9 })
  expect(await checkpoint()).toMatchObject({ blockNumber: 9 })
})

test('the ancestor of a deep reorg is found in a store that has many more hashes than this service keeps', async () => {
  const checkpoints = Array.from({ length: 20_000 }, (_, n) => ({ blockNumber: 20_000 - n, blockHash: `old ${n}` }))
  const ancestor = { blockNumber: 0, blockHash: 'shared' }
  const moves: unknown[] = []
  const tx = {
    lockChain: async () => checkpoints[0],
    reached: async () => null,
    checkpoints: async (_chainId: number, atOrBelow: number, limit: number) =>
      [...checkpoints, ancestor].filter(({ blockNumber }) => blockNumber <= atOrBelow).slice(0, limit),
    markOffChainAbove: async () => undefined,
    setCheckpoint: async (...move: unknown[]) => void moves.push(move),
    setReached: async () => undefined,
  }
  const store = { transaction: (run: (given: typeof tx) => unknown) => run(tx) } as never
  const chain = { chainId: 1, block: async (number: number) => ({ number, hash: number === 0 ? 'shared' : 'new' }) }
  const deps = { chain: chain as never, store, finalityBlocks: null }
  expect(await reorganize(deps, { blockNumber: 20_000, blockHash: 'old 0' })).toEqual(ancestor)
  expect(moves).toEqual([[1, ancestor]])
})

const deep = async (depth: number) => {
  const setup = await setUpIndexed(100, { finalityBlocks: 12 }, paymentAt)
  setup.chain.fork(depth, paymentAt)
  setup.chain.mine(1)
  return setup
}

test('a reorg of final blocks is followed up to the number of confirmations; one block deeper it changes nothing, and names the command that repairs', async () => {
  const followed = await deep(12)
  await followed.catchUp()
  expect(followed.ofType('chain.reorganized')).toMatchObject([{ commonAncestor: 88 }])
  const { indexer, store, checkpoint, ofType } = await deep(13)
  const stored = store.dump()
  await expect(indexer.step()).rejects.toMatchObject({
    code: 'ERR_CHAIN_REORG_TOO_DEEP',
    chainId: 1,
    commonAncestor: 87,
    message: expect.stringContaining('payment-integration reindex --chain 1 --from 88'),
  })
  expect(store.dump()).toEqual(stored)
  expect(await checkpoint()).toMatchObject({ blockNumber: 100 })
  expect(ofType('chain.reorganized')).toEqual([])
})

/** Indexes up to 100, follows a fork at 94 up to 96, then forks `depth` blocks below that. */
const twice = async (depth: number) => {
  const setup = await setUpIndexed(100, { finalityBlocks: 12, maxRange: 1 }, paymentAt)
  const { chain, indexer, catchUp, checkpoint } = setup
  chain.fork(6, paymentAt)
  chain.mine(1)
  await indexer.step()
  chain.drop(5)
  await catchUp()
  expect(await checkpoint()).toMatchObject({ blockNumber: 96 })
  chain.fork(depth, paymentAt)
  chain.mine(1)
  return setup
}

test('a reorg of final blocks is rejected too when several reorgs add up to that depth', async () => {
  const followed = await twice(8)
  await followed.catchUp()
  expect(followed.ofType('chain.reorganized').map(({ commonAncestor }) => commonAncestor)).toEqual([94, 88])
  const rejected = await twice(9)
  await expect(rejected.indexer.step()).rejects.toThrow(DeepReorgError)
  expect(await rejected.checkpoint()).toMatchObject({ blockNumber: 96 })
})

test('a reorg of final blocks does not happen in a rollback: final payments stay final, and new blocks need their own confirmations', async () => {
  const options = { finalityBlocks: 12, maxRange: 1 }
  const { chain, indexer, catchUp, store, checkpoint } = await setUpIndexed(100, options, paymentAt)
  const { isFinal } = createFinality({ 1: 12 })
  const finalHeights = async () => {
    const heights: number[] = []
    for (const payment of store.committed.payments) {
      const { indexedTo } = await store.payments.transaction(payment)
      if (!payment.offChain && isFinal(payment, indexedTo)) heights.push(payment.blockNumber)
    }
    return Math.max(...heights)
  }
  expect(await finalHeights()).toBe(88)
  chain.fork(12, (height) => [`anew ${height}`])
  chain.mine(3, (height) => [`anew ${height}`])
  const seen: (readonly [number | undefined, number])[] = []
  chain.intercept = async (call) => {
    if (call[0] === 'range') seen.push([(await checkpoint())?.blockNumber, await finalHeights()])
    return undefined
  }
  await indexer.step()
  await catchUp()
  expect(seen.length).toBeGreaterThan(12)
  for (const [indexed, final] of seen) expect([indexed, final]).toEqual([indexed, Math.max(88, (indexed ?? 0) - 12)])
  expect(await finalHeights()).toBe(91)
})

function setUp(height: number) {
  const chain = fakeChain()
  chain.mine(height)
  const store = openStore()
  const at = (number: number) => ({ blockNumber: number, blockHash: chain.at(number).hash })
  const stored = () => store.transaction((tx) => tx.checkpoints(1, Number.MAX_SAFE_INTEGER, 10))
  return { chain, store, at, stored }
}

test.each([
  [1, [0]],
  [2, [1, 0]],
  [65, [64, 0]],
  [66, [65, 1]],
  [100, [99, 35]],
])('a start at block %d stores the blocks %j', async (start, heights) => {
  const { chain, store, at, stored } = setUp(100)
  expect(await storeStart({ chain, store }, start)).toEqual(at(start - 1))
  expect(await store.payments.checkpoint(1)).toEqual(at(start - 1))
  expect(await stored()).toEqual(heights.map(at))
})

test('a start that another indexer stored first is not changed', async () => {
  const { chain, store, at, stored } = setUp(100)
  await storeStart({ chain, store }, 50)
  await expect(storeStart({ chain, store }, 90)).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_CHANGED', chainId: 1 })
  expect(await store.payments.checkpoint(1)).toEqual(at(49))
  expect(await stored()).toEqual([at(49), at(0)])
})

test('nothing is stored when the node lacks a block or the signal aborts', async () => {
  const { chain, store } = setUp(10)
  await expect(storeStart({ chain, store }, 20)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  await expect(storeStart({ chain, store }, 5, AbortSignal.abort())).rejects.toThrow('abort')
  expect(await store.payments.checkpoint(1)).toBeNull()
})
