import { expect, test } from 'vitest'
import { fakeChain } from '../../test/support/fake-chain.js'
import { paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { openStore } from '../../test/support/store.js'
import { createFinality } from '../legacy/finality.js'
import { DeepReorganizationError, storeStart } from './reorganize.js'

test.each([1, 2, 3, 7])(
  'a reorganisation %d deep: rolls back to the common ancestor and reads the new blocks',
  async (depth) => {
    const { chain, indexer, catchUp, checkpoint, ofType, store } = setUpIndexer({ maxRange: 1 })
    chain.mine(20, paymentAt)
    await catchUp()
    chain.fork(depth, paymentAt)
    chain.mine(1, paymentAt)
    expect(await indexer.step()).toBe(false)
    const reorganised = { type: 'chain.reorganised', chainId: 1, from: 20, commonAncestor: 20 - depth }
    expect(ofType('chain.reorganised')).toEqual([reorganised])
    expect(indexer.status()).toMatchObject({ head: 21, indexed: 20 - depth, error: null })
    const kept = await store.transaction((tx) => tx.checkpoints(1, 100, 100))
    expect(kept[0]).toEqual(await checkpoint())
    await catchUp()
    expect(await checkpoint()).toEqual({ blockNumber: 21, blockHash: chain.at(21).hash })
    expect(ofType('chain.reorganised')).toHaveLength(1)
    const heights = Array.from({ length: 22 }, (_, blockNumber) => ({
      blockNumber,
      blockHash: chain.at(blockNumber).hash,
    }))
    expect(store.committed.heights).toEqual(heights.map((height) => ({ chainId: 1, ...height })))
  },
)

test('a payment that a reorganisation includes again keeps its version and gets its new block, without another snapshot', async () => {
  const { chain, catchUp, store } = setUpIndexer()
  chain.mine(4, (height) => (height === 4 ? ['kept'] : []))
  await catchUp()
  chain.fork(2, (height) => (height === 3 ? ['kept'] : []))
  chain.mine(1, () => ['new'])
  await catchUp()
  const payments = store.committed.payments
  expect(payments.map(({ blockNumber, blockHash, version }) => ({ blockNumber, blockHash, version }))).toEqual([
    { blockNumber: 3, blockHash: chain.at(3).hash, version: 1 },
    { blockNumber: 5, blockHash: chain.at(5).hash, version: 1 },
  ])
  expect(store.committed.snapshots).toHaveLength(2)
})

test.each([1, 3, 10, 256])(
  'a reorganisation %d deep in one long range: rolls back to the exact ancestor',
  async (depth) => {
    const { chain, catchUp, ofType, ranges, store } = setUpIndexer()
    chain.mine(400, paymentAt)
    await catchUp()
    chain.fork(depth, paymentAt)
    chain.mine(1, paymentAt)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 400, commonAncestor: 400 - depth }])
    expect(ranges().at(-1)).toBe(`${401 - depth}-401`)
    expect(store.committed.payments.length).toBe(401)
  },
)

test('a reorganisation is not applied after another indexer moved the checkpoint', async () => {
  const { chain, indexer, catchUp, store, ofType, checkpoint } = setUpIndexer({ maxRange: 1 })
  chain.mine(5)
  await catchUp()
  chain.fork(2)
  chain.mine(1)
  const other = setUpIndexer({ maxRange: 1 }, { chain, store })
  let transactions = 0
  // The first transaction reads the stored checkpoints; before the second one, the other indexer rolls back and goes
  // on.
  store.beforeTransaction = () => {
    transactions += 1
    if (transactions !== 2) return
    store.sql('delete from checkpoints where block_number > 3')
    store.sql('update checkpoints set block_hash = ? where block_number = 3', chain.at(3).hash)
  }
  await indexer.step()
  expect(ofType('chain.reorganised')).toEqual([])
  await other.catchUp()
  expect(await checkpoint()).toEqual({ blockNumber: 6, blockHash: chain.at(6).hash })
})

test('a reorganisation below every stored checkpoint stops the chain, changes nothing, and ends when the node is right again', async () => {
  const { chain, indexer, catchUp, checkpoint, store } = setUpIndexer({ maxRange: 2, startBlock: 3 })
  chain.mine(8)
  await catchUp()
  const stored = store.dump()
  const right = chain.calls.length
  chain.intercept = ([kind, height]) =>
    kind === 'block'
      ? { ...chain.at(height ?? 0), hash: `0x${'f0'.repeat(32)}` }
      : kind === 'head'
        ? { ...chain.at(8), hash: `0x${'f0'.repeat(32)}` }
        : undefined
  const broken = { code: 'ERR_CHAIN_HISTORY_BROKEN', chainId: 1, retryable: true }
  await expect(indexer.step()).rejects.toMatchObject(broken)
  expect(indexer.status().error).toContain('no stored checkpoint up to block 8 is on the chain that the node shows')
  expect(store.dump()).toEqual(stored)
  expect(chain.calls.length).toBeGreaterThan(right)
  chain.intercept = null
  chain.mine(1)
  await catchUp()
  expect(indexer.status()).toMatchObject({ error: null, indexed: 9 })
  expect(await checkpoint()).toMatchObject({ blockNumber: 9 })
})

const deep = async (depth: number, options: { finalityBlocks: number | null }) => {
  const setup = setUpIndexer(options)
  setup.chain.mine(100, paymentAt)
  await setup.catchUp()
  setup.chain.fork(depth, paymentAt)
  setup.chain.mine(1)
  return setup
}

test('a reorganisation of final blocks is followed up to the number of confirmations, and not one block deeper', async () => {
  const followed = await deep(12, { finalityBlocks: 12 })
  await followed.catchUp()
  expect(followed.ofType('chain.reorganised')).toMatchObject([{ commonAncestor: 88 }])
  const refused = await deep(13, { finalityBlocks: 12 })
  await expect(refused.indexer.step()).rejects.toThrow(DeepReorganizationError)
})

test('a reorganisation of final blocks changes nothing, and names the command that repairs', async () => {
  const { indexer, store, checkpoint, ofType } = await deep(40, { finalityBlocks: 12 })
  const stored = store.dump()
  await expect(indexer.step()).rejects.toMatchObject({
    code: 'ERR_CHAIN_REORG_TOO_DEEP',
    chainId: 1,
    commonAncestor: 60,
    message: expect.stringContaining('payment-integration reindex --chain 1 --from 61'),
  })
  expect(store.dump()).toEqual(stored)
  expect(await checkpoint()).toMatchObject({ blockNumber: 100 })
  expect(ofType('chain.reorganised')).toEqual([])
})

/** Indexes up to 100, follows a fork at 94 up to 96, then forks `depth` blocks below that. */
const twice = async (depth: number) => {
  const setup = setUpIndexer({ finalityBlocks: 12, maxRange: 1 })
  const { chain, indexer, catchUp, checkpoint } = setup
  chain.mine(100, paymentAt)
  await catchUp()
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

test('a reorganisation of final blocks is rejected too when several reorganisations add up to that depth', async () => {
  const followed = await twice(8)
  await followed.catchUp()
  expect(followed.ofType('chain.reorganised').map(({ commonAncestor }) => commonAncestor)).toEqual([94, 88])
  const refused = await twice(9)
  await expect(refused.indexer.step()).rejects.toThrow(DeepReorganizationError)
  expect(await refused.checkpoint()).toMatchObject({ blockNumber: 96 })
})

test('a reorganisation of final blocks does not happen in a rollback: final payments stay final, and new blocks need their own confirmations', async () => {
  const { chain, indexer, catchUp, store, checkpoint } = setUpIndexer({ finalityBlocks: 12, maxRange: 1 })
  const { isFinal } = createFinality({ 1: 12 })
  const finalHeights = async () => {
    const heights: number[] = []
    for (const payment of store.committed.payments) {
      const { indexedTo } = await store.payments.transaction(payment)
      if (!payment.offChain && isFinal(payment, indexedTo)) heights.push(payment.blockNumber)
    }
    return Math.max(...heights)
  }
  chain.mine(100, paymentAt)
  await catchUp()
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

/** A chain of `height` blocks and an empty store. */
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
  await expect(storeStart({ chain, store }, 90)).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_MOVED', chainId: 1 })
  expect(await store.payments.checkpoint(1)).toEqual(at(49))
  expect(await stored()).toEqual([at(49), at(0)])
})

test('nothing is stored when the node lacks a block or the signal aborts', async () => {
  const { chain, store } = setUp(10)
  await expect(storeStart({ chain, store }, 20)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  await expect(storeStart({ chain, store }, 5, AbortSignal.abort())).rejects.toThrow('abort')
  expect(await store.payments.checkpoint(1)).toBeNull()
})
