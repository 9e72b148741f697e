import { describe, expect, test } from 'vitest'
import { failing, gone, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'

describe('a reorganisation', () => {
  test.each([1, 2, 3, 7])('%d deep: goes back to the common ancestor and reads the new blocks', async (depth) => {
    const { chain, indexer, catchUp, checkpoint, ofType, store } = setUpIndexer({ maxRange: 1 })
    chain.mine(20, paymentAt)
    await catchUp()
    chain.fork(depth, paymentAt)
    chain.mine(1, paymentAt)
    expect(await indexer.step()).toBe(false)
    expect(ofType('chain.reorganised')).toEqual([
      { type: 'chain.reorganised', chainId: 1, from: 20, commonAncestor: 20 - depth },
    ])
    expect(indexer.status()).toMatchObject({ head: 21, indexed: 20 - depth, error: null })
    const kept = await store.transaction((tx) => tx.checkpoints(1, 100, 100))
    expect(kept[0]).toEqual(await checkpoint())
    await catchUp()
    expect(await checkpoint()).toEqual({ blockNumber: 21, blockHash: chain.at(21).hash })
    expect(ofType('chain.reorganised')).toHaveLength(1)
    const heights = store.committed().checkpoints.get(1)?.heights
    expect([...(heights ?? [])].sort(([a], [b]) => a - b)).toEqual(
      Array.from({ length: 22 }, (_, height) => [height, chain.at(height).hash]),
    )
  })

  test('a payment that is included again keeps its version and gets its new block, without another snapshot', async () => {
    const { chain, catchUp, store } = setUpIndexer()
    chain.mine(4, (height) => (height === 4 ? ['kept'] : []))
    await catchUp()
    chain.fork(2, (height) => (height === 3 ? ['kept'] : []))
    chain.mine(1, () => ['new'])
    await catchUp()
    const payments = [...store.committed().payments.values()]
    expect(payments.map(({ blockNumber, blockHash, version }) => ({ blockNumber, blockHash, version }))).toEqual([
      { blockNumber: 3, blockHash: chain.at(3).hash, version: 1 },
      { blockNumber: 5, blockHash: chain.at(5).hash, version: 1 },
    ])
    expect(store.committed().snapshots).toHaveLength(2)
  })

  test('a payment that is not included again is marked as off the chain, and one that is included again is not', async () => {
    const { chain, catchUp, store } = setUpIndexer()
    const offChain = () =>
      Object.fromEntries(
        [...store.committed().payments.values()].map((payment) => [payment.blockNumber, payment.offChain]),
      )
    chain.mine(5, (height) => (height >= 3 ? [`payment ${height}`] : []))
    await catchUp()
    expect(offChain()).toEqual({ 3: false, 4: false, 5: false })
    chain.fork(2, (height) => (height === 5 ? ['payment 5'] : []))
    chain.mine(1)
    await catchUp()
    expect(offChain()).toEqual({ 3: false, 4: true, 5: false })
  })

  test('is seen at the same height too, before a further block comes', async () => {
    const { chain, catchUp, ofType, checkpoint } = setUpIndexer({ maxRange: 1 })
    chain.mine(5)
    await catchUp()
    chain.fork(2)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 5, commonAncestor: 3 }])
    expect(await checkpoint()).toEqual({ blockNumber: 5, blockHash: chain.at(5).hash })
  })

  test('goes back further than the fork where no checkpoint is nearer, and reads those blocks again', async () => {
    const { chain, catchUp, ofType, ranges, store } = setUpIndexer({ maxRange: 10 })
    chain.mine(20, paymentAt)
    await catchUp()
    chain.fork(3, paymentAt)
    chain.mine(1, paymentAt)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 20, commonAncestor: 10 }])
    expect(ranges().slice(-2)).toEqual([
      [11, 20],
      [21, 21],
    ])
    expect(store.committed().payments.size).toBe(21)
  })

  test('a deep one is found by few questions', async () => {
    const { chain, catchUp, ofType } = setUpIndexer({ maxRange: 1 })
    chain.mine(1_000)
    await catchUp()
    chain.fork(900)
    chain.mine(1)
    chain.calls.length = 0
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ commonAncestor: 100 }])
    expect(chain.calls.filter(([kind]) => kind === 'block').length).toBeLessThan(25)
  })

  test('one during the reading of a range is read again at once, from a new head', async () => {
    const { chain, indexer, catchUp, ranges, clock, checkpoint } = setUpIndexer()
    chain.mine(5)
    await catchUp()
    chain.mine(3)
    chain.intercept = (call) => {
      if (call[0] !== 'range') return undefined
      chain.intercept = null
      chain.drop(1)
      throw gone()
    }
    expect(await indexer.step()).toBe(true)
    expect(ranges().slice(-2)).toEqual([
      [6, 8],
      [6, 7],
    ])
    expect(clock.slept).toEqual([])
    expect(await checkpoint()).toMatchObject({ blockNumber: 7 })
  })

  test('blocks that keep vanishing are given up after three more tries, and make no range smaller', async () => {
    const { chain, indexer, catchUp, ranges } = setUpIndexer()
    await catchUp()
    chain.mine(5)
    const errors = Array.from({ length: 8 }, gone)
    chain.intercept = failing('range', errors)
    await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHAIN_RANGE_GONE' })
    expect(errors).toHaveLength(4)
    await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHAIN_RANGE_GONE' })
    await catchUp()
    expect(ranges().at(-1)).toEqual([1, 5])
  })

  test('is not applied over another indexer that moved on meanwhile', async () => {
    const { chain, indexer, catchUp, store, ofType, checkpoint } = setUpIndexer({ maxRange: 1 })
    chain.mine(5)
    await catchUp()
    chain.fork(2)
    chain.mine(1)
    const other = setUpIndexer({ maxRange: 1 }, { chain, store })
    let transactions = 0
    // The first transaction reads the stored checkpoints; the other indexer finishes the work before the second.
    store.beforeTransaction = () => {
      transactions += 1
      if (transactions !== 2) return
      const current = { blockNumber: 3, blockHash: chain.at(3).hash }
      store.seed(({ checkpoints }) => {
        const heights = checkpoints.get(1)?.heights ?? new Map()
        checkpoints.set(1, { current, heights })
      })
    }
    expect(await indexer.step()).toBe(false)
    expect(ofType('chain.reorganised')).toEqual([])
    await other.catchUp()
    expect(await checkpoint()).toEqual({ blockNumber: 6, blockHash: chain.at(6).hash })
  })

  test.each([1, 2, 40, 65])('%d deep right after a start at the head: is survived', async (depth) => {
    const { chain, catchUp, ofType, checkpoint, store } = setUpIndexer({ startBlock: 'head' })
    chain.mine(200)
    await catchUp()
    chain.fork(depth, paymentAt)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 200, commonAncestor: depth === 1 ? 199 : 135 }])
    expect(await checkpoint()).toEqual({ blockNumber: 200, blockHash: chain.at(200).hash })
    expect(store.committed().payments.size).toBe(depth)
  })

  test('beyond everything stored it stops the chain, changes nothing, and goes on when the node is right again', async () => {
    const { chain, indexer, catchUp, checkpoint, store } = setUpIndexer({ maxRange: 2, startBlock: 3 })
    chain.mine(8)
    await catchUp()
    const stored = store.committed()
    const right = chain.calls.length
    chain.intercept = ([kind, height]) =>
      kind === 'block'
        ? { ...chain.at(height ?? 0), hash: 'foreign' }
        : kind === 'head'
          ? { ...chain.at(8), hash: 'foreign' }
          : undefined
    await expect(indexer.step()).rejects.toMatchObject({
      code: 'ERR_CHAIN_HISTORY_BROKEN',
      chainId: 1,
      retryable: true,
    })
    expect(indexer.status().error).toContain('no stored checkpoint up to block 8 is on the chain that the node shows')
    expect(store.committed()).toStrictEqual(stored)
    expect(chain.calls.length).toBeGreaterThan(right)
    chain.intercept = null
    chain.mine(1)
    await catchUp()
    expect(indexer.status()).toMatchObject({ error: null, indexed: 9 })
    expect(await checkpoint()).toMatchObject({ blockNumber: 9 })
  })
})
