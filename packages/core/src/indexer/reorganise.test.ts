import { describe, expect, test } from 'vitest'
import { failing, gone, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { createFinality } from '../legacy/finality.js'
import { DeepReorganisationError } from './deep-reorganisation-error.js'

describe('a reorganisation', () => {
  test.each([1, 2, 3, 7])('%d deep: rolls back to the common ancestor and reads the new blocks', async (depth) => {
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
    expect(store.committed.heights).toEqual(
      Array.from({ length: 22 }, (_, height) => ({
        chainId: 1,
        blockNumber: height,
        blockHash: chain.at(height).hash,
      })),
    )
  })

  test('a payment that is included again keeps its version and gets its new block, without another snapshot', async () => {
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

  test('a payment that is not included again is marked as off the chain, and one that is included again is not', async () => {
    const { chain, catchUp, store } = setUpIndexer()
    const offChain = () =>
      Object.fromEntries(store.committed.payments.map((payment) => [payment.blockNumber, payment.offChain]))
    chain.mine(5, (height) => (height >= 3 ? [`payment ${height}`] : []))
    await catchUp()
    expect(offChain()).toEqual({ 3: false, 4: false, 5: false })
    chain.fork(2, (height) => (height === 5 ? ['payment 5'] : []))
    chain.mine(1)
    await catchUp()
    expect(offChain()).toEqual({ 3: false, 4: true, 5: false })
  })

  test('is found at the same height too, before a higher block', async () => {
    const { chain, catchUp, ofType, checkpoint } = setUpIndexer({ maxRange: 1 })
    chain.mine(5)
    await catchUp()
    chain.fork(2)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 5, commonAncestor: 3 }])
    expect(await checkpoint()).toEqual({ blockNumber: 5, blockHash: chain.at(5).hash })
  })

  test.each([1, 3, 10, 256])('%d deep in one long range: rolls back to the exact ancestor', async (depth) => {
    const { chain, catchUp, ofType, ranges, store } = setUpIndexer()
    chain.mine(400, paymentAt)
    await catchUp()
    chain.fork(depth, paymentAt)
    chain.mine(1, paymentAt)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 400, commonAncestor: 400 - depth }])
    expect(ranges().at(-1)).toEqual([401 - depth, 401])
    expect(store.committed.payments.length).toBe(401)
  })

  test('rolls back below the fork where no nearer hash is stored, and reads those blocks again', async () => {
    const { chain, catchUp, ofType, ranges, store } = setUpIndexer({ maxRange: 100 })
    chain.mine(1_000, paymentAt)
    await catchUp()
    chain.fork(750, paymentAt)
    chain.mine(1, paymentAt)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 1_000, commonAncestor: 200 }])
    expect(ranges().slice(-9)[0]).toEqual([201, 300])
    expect(store.committed.payments.length).toBe(1_001)
    expect(store.committed.snapshots).toHaveLength(1_001)
  })

  test('needs few reads to find a deep ancestor', async () => {
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

  test('during the read of a range is followed at once, from a new head', async () => {
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

  test('blocks that keep vanishing are retried three times, and make no range smaller', async () => {
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

  test('is not applied after another indexer moved the checkpoint', async () => {
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

  test.each([1, 2, 40, 65])('%d deep right after a start at the head finds its ancestor', async (depth) => {
    const { chain, catchUp, ofType, checkpoint, store } = setUpIndexer({ startBlock: 'head' })
    chain.mine(200)
    await catchUp()
    chain.fork(depth, paymentAt)
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ from: 200, commonAncestor: depth === 1 ? 199 : 135 }])
    expect(await checkpoint()).toEqual({ blockNumber: 200, blockHash: chain.at(200).hash })
    expect(store.committed.payments.length).toBe(depth)
  })

  test('below every stored checkpoint stops the chain, changes nothing, and ends when the node is right again', async () => {
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
    await expect(indexer.step()).rejects.toMatchObject({
      code: 'ERR_CHAIN_HISTORY_BROKEN',
      chainId: 1,
      retryable: true,
    })
    expect(indexer.status().error).toContain('no stored checkpoint up to block 8 is on the chain that the node shows')
    expect(store.dump()).toEqual(stored)
    expect(chain.calls.length).toBeGreaterThan(right)
    chain.intercept = null
    chain.mine(1)
    await catchUp()
    expect(indexer.status()).toMatchObject({ error: null, indexed: 9 })
    expect(await checkpoint()).toMatchObject({ blockNumber: 9 })
  })
})

describe('a reorganisation of final blocks', () => {
  const deep = async (depth: number, options: { finalityBlocks: number | null }) => {
    const setup = setUpIndexer(options)
    setup.chain.mine(100, paymentAt)
    await setup.catchUp()
    setup.chain.fork(depth, paymentAt)
    setup.chain.mine(1)
    return setup
  }

  test('is followed up to the number of confirmations, and not one block deeper', async () => {
    const followed = await deep(12, { finalityBlocks: 12 })
    await followed.catchUp()
    expect(followed.ofType('chain.reorganised')).toMatchObject([{ commonAncestor: 88 }])
    const refused = await deep(13, { finalityBlocks: 12 })
    await expect(refused.indexer.step()).rejects.toThrow(DeepReorganisationError)
  })

  test('changes nothing, and names the command that repairs', async () => {
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

  test('is rejected too when several reorganisations add up to that depth', async () => {
    const followed = await twice(8)
    await followed.catchUp()
    expect(followed.ofType('chain.reorganised').map(({ commonAncestor }) => commonAncestor)).toEqual([94, 88])
    const refused = await twice(9)
    await expect(refused.indexer.step()).rejects.toThrow(DeepReorganisationError)
    expect(await refused.checkpoint()).toMatchObject({ blockNumber: 96 })
  })

  test('does not happen in a rollback: final payments stay final, and new blocks need their own confirmations', async () => {
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

  test('ends by itself when the node shows the stored blocks again', async () => {
    const { indexer, chain, catchUp, checkpoint } = await deep(40, { finalityBlocks: 12 })
    const right = setUpIndexer({}).chain
    right.mine(102, paymentAt)
    await expect(indexer.step()).rejects.toThrow(DeepReorganisationError)
    chain.intercept = (call) => {
      if (call[0] === 'head') return right.head()
      if (call[0] === 'block') return right.block(call[1])
      return right.rangeOf(call[1], call[2])
    }
    await catchUp()
    expect(await checkpoint()).toEqual({ blockNumber: 102, blockHash: right.at(102).hash })
  })

  test('does not exist where no block is ever final', async () => {
    const { catchUp, ofType } = await deep(99, { finalityBlocks: null })
    await catchUp()
    expect(ofType('chain.reorganised')).toMatchObject([{ commonAncestor: 1 }])
  })

  test('is recognised where only the end of one long range is stored', async () => {
    const { chain, indexer, catchUp } = setUpIndexer({ finalityBlocks: 3, maxRange: 400 })
    chain.mine(2_000)
    chain.intercept = (call) => {
      if (call[0] === 'range' && call[1] > 1) throw gone()
      return undefined
    }
    await indexer.step()
    await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHAIN_RANGE_GONE' })
    chain.intercept = null
    chain.fork(1_700)
    await expect(catchUp()).rejects.toMatchObject({ code: 'ERR_CHAIN_REORG_TOO_DEEP', commonAncestor: 0 })
  })
})
