import { describe, expect, test } from 'vitest'
import { down, failing, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { until } from '../../test/support/until.js'
import { StoreError } from '../errors.js'

describe('options', () => {
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
})

describe('following', () => {
  test('reads every block once, in ranges, and commits payments with the checkpoint', async () => {
    const { chain, store, catchUp, ranges, checkpoint, ofType, indexer } = setUpIndexer({ maxRange: 4 })
    chain.mine(9, paymentAt)
    await catchUp()
    expect(ranges()).toEqual([
      [0, 0],
      [1, 4],
      [5, 8],
      [9, 9],
    ])
    expect(store.committed.payments.length).toBe(9)
    expect(store.committed.snapshots).toHaveLength(9)
    expect(await checkpoint()).toEqual({ blockNumber: 9, blockHash: chain.at(9).hash })
    expect(ofType('payment.indexed').map(({ blockNumber }) => blockNumber)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(ofType('chain.indexed')).toEqual(
      [0, 4, 8, 9].map((blockNumber) => ({ type: 'chain.indexed', chainId: 1, blockNumber, head: 9 })),
    )
    expect(indexer.status()).toEqual({
      chainId: 1,
      head: 9,
      headAt: chain.at(9).timestamp,
      indexed: 9,
      proof: 'root',
      reorganisations: 0,
      newestReorganisations: [],
      leading: true,
      nodes: chain.nodes(),
      error: null,
      lastError: null,
    })
  })

  test('step resolves false while blocks are left, true at the head, and true when nothing is new', async () => {
    const { chain, indexer, ranges } = setUpIndexer({ maxRange: 2 })
    chain.mine(4)
    expect(await indexer.step()).toBe(false)
    expect(ranges()).toEqual([[0, 0]])
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
    expect(ranges().slice(-2)).toEqual([
      [5, 6],
      [5, 6],
    ])
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
    expect(await store.chains.proofs(1, 10)).toMatchObject([
      { from: 4, to: 4, proof: 'root' },
      { from: 0, to: 3, proof: 'bloom' },
    ])
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
    expect(after.ranges().at(-1)).toEqual([7, 10])
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
      store.sql(
        'insert into checkpoints (chain_id, block_number, block_hash) values (1, ?, ?)',
        height,
        hashOf('another'),
      )
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
})

describe('a node that lags or contradicts itself', () => {
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
})
