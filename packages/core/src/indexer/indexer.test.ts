import { describe, expect, test } from 'vitest'
import { down, failing, gone, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
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
      endpoints: chain.endpoints(),
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

  test('blocks that keep vanishing do not end a step that makes progress', async () => {
    const { chain, indexer, catchUp, checkpoint } = setUpIndexer({ maxRange: 1 })
    await catchUp()
    chain.mine(9)
    let read = 0
    chain.intercept = ([kind]) => {
      if (kind === 'head') read = 0
      if (kind === 'range' && read++ > 0) throw gone()
      return undefined
    }
    expect(await indexer.step()).toBe(true)
    expect(await checkpoint()).toMatchObject({ blockNumber: 9 })
  })

  test('the last error and its time stay after a recovery', async () => {
    const { chain, indexer, catchUp, clock } = setUpIndexer()
    chain.intercept = failing('head', [down()])
    await clock.advance(5_000)
    await expect(indexer.step()).rejects.toThrow()
    const lastError = { message: 'ERR_CHAIN_UNAVAILABLE: no answer from the node', at: clock.now() }
    expect(indexer.status()).toMatchObject({ error: lastError.message, lastError })
    await clock.advance(5_000)
    await catchUp()
    expect(indexer.status()).toMatchObject({ error: null, lastError })
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

  test('the head is read again during a long catch-up, so that the reported lag is true', async () => {
    const { chain, indexer, clock, ofType } = setUpIndexer({ maxRange: 1 })
    await indexer.step()
    chain.mine(4)
    chain.intercept = async ([kind]) => {
      if (kind !== 'range') return undefined
      await clock.advance(6_000)
      chain.mine(10)
      return undefined
    }
    expect(await indexer.step()).toBe(false)
    expect(ofType('chain.indexed').map(({ blockNumber, head }) => [blockNumber, head])).toEqual([
      [0, 0],
      [1, 4],
      [2, 4],
      [3, 24],
      [4, 24],
    ])
  })

  test('the status is empty before the first answer', () => {
    const { indexer, chain } = setUpIndexer()
    expect(indexer.status()).toEqual({
      chainId: 1,
      head: null,
      headAt: null,
      indexed: null,
      proof: null,
      reorganisations: 0,
      newestReorganisations: [],
      leading: false,
      endpoints: chain.endpoints(),
      error: null,
      lastError: null,
    })
  })

  test('a start block above the head is indexed once it is mined', async () => {
    const { chain, indexer, catchUp, ranges } = setUpIndexer({ startBlock: 3 })
    chain.mine(2)
    expect(await indexer.step()).toBe(true)
    chain.mine(2)
    await catchUp()
    expect(ranges()).toEqual([[3, 4]])
  })

  test('`head` starts with the block that is the head, not the next one', async () => {
    const { chain, catchUp, ranges, store } = setUpIndexer({ startBlock: 'head' })
    chain.mine(7, paymentAt)
    await catchUp()
    expect(ranges()).toEqual([[7, 7]])
    expect(store.committed.payments.length).toBe(1)
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

  test('no start is stored while the node lacks a block below it', async () => {
    const { chain, indexer, checkpoint } = setUpIndexer({ startBlock: 'head' })
    chain.mine(7)
    chain.intercept = ([kind, height]) => (kind === 'block' && height === 0 ? null : undefined)
    await expect(indexer.step()).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
    expect(await checkpoint()).toBeNull()
  })

  test('a restart goes on from the stored checkpoint, whatever the start block says', async () => {
    const before = setUpIndexer({ startBlock: 2 })
    before.chain.mine(5)
    await before.catchUp()
    before.chain.mine(2)
    const after = setUpIndexer({ startBlock: 'head' }, before)
    await after.catchUp()
    expect(after.ranges()).toEqual([
      [2, 5],
      [6, 7],
    ])
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

  test('two indexers of one chain commit every block once, without errors', async () => {
    const first = setUpIndexer({ maxRange: 3 })
    first.chain.mine(30, paymentAt)
    const second = setUpIndexer({ maxRange: 3 }, first)
    const stop = new AbortController()
    const runs = [first, second].map(({ indexer }) => indexer.run(stop.signal))
    // Each sleeps at the head, and until the renewal of its lease.
    await until('both to rest', () => first.clock.sleepers().length === 4)
    await first.clock.advance(5_000)
    stop.abort()
    await Promise.all(runs)
    expect(first.store.committed.snapshots).toHaveLength(30)
    const tops = [...first.ofType('chain.indexed'), ...second.ofType('chain.indexed')].map((event) => event.blockNumber)
    expect(tops.sort((a, b) => a - b)).toEqual(Array.from({ length: 11 }, (_, index) => 3 * index))
    for (const { indexer } of [first, second])
      expect(indexer.status()).toMatchObject({ head: 30, indexed: 30, error: null, lastError: null })
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
  test('a lower head changes nothing', async () => {
    const { chain, indexer, catchUp, checkpoint, events, store } = setUpIndexer()
    chain.mine(5, paymentAt)
    await catchUp()
    const [seen, stored] = [events.length, store.dump()]
    chain.drop(3)
    expect(await indexer.step()).toBe(true)
    expect(events).toHaveLength(seen)
    expect(store.dump()).toEqual(stored)
    expect(await checkpoint()).toMatchObject({ blockNumber: 5 })
    expect(indexer.status()).toMatchObject({ head: 2, indexed: 5, error: null })
  })

  test('a lower head with another hash changes nothing until it reaches the checkpoint', async () => {
    const { chain, indexer, catchUp, events } = setUpIndexer()
    chain.mine(5)
    await catchUp()
    const seen = events.length
    chain.fork(3)
    chain.drop(1)
    await indexer.step()
    expect(events).toHaveLength(seen)
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

  test('a head at the checkpoint with another hash is rejected while the node still answers the checkpoint', async () => {
    const { chain, indexer, catchUp, checkpoint } = setUpIndexer()
    chain.mine(5)
    await catchUp()
    chain.intercept = ([kind]) => (kind === 'head' ? { ...chain.at(5), hash: `0x${'57'.repeat(32)}` } : undefined)
    await expect(indexer.step()).rejects.toThrow('two hashes for block 5')
    expect(await checkpoint()).toMatchObject({ blockNumber: 5 })
  })

  test('a missing block below the head is retried, and is no reorganisation', async () => {
    const { chain, indexer, catchUp, checkpoint } = setUpIndexer()
    chain.mine(5)
    await catchUp()
    chain.fork(2)
    chain.mine(1)
    chain.intercept = ([kind]) => (kind === 'block' ? null : undefined)
    await expect(indexer.step()).rejects.toThrow('has no block 5 below its own head')
    expect(await checkpoint()).toMatchObject({ blockNumber: 5 })
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
