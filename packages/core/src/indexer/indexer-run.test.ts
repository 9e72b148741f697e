import { describe, expect, test } from 'vitest'
import { down, failing, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { deferred, until } from '../../test/support/until.js'

describe('run', () => {
  /** Starts the loop; `stop` aborts it and resolves once it has ended. */
  function start(indexer: { run(signal: AbortSignal): Promise<void> }) {
    const controller = new AbortController()
    const run = indexer.run(controller.signal)
    return {
      abort: () => controller.abort(),
      async stop() {
        controller.abort()
        await run
      },
    }
  }

  test('catches up without sleeping, then reads the head every poll interval', async () => {
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

  test('polls ten times less often while blocks are announced, and at the old pace at once when that ends', async () => {
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

  test('backs off exponentially, reports an outage once, and recovers by itself', async () => {
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

  test('a commit between failures resets the backoff and ends the failure', async () => {
    const { chain, indexer, clock, ofType, waits } = setUpIndexer({ maxRange: 1 })
    chain.mine(60)
    let asked = 0
    const errors: (string | null)[] = []
    chain.intercept = async ([what]) => {
      if (what !== 'range') return undefined
      asked += 1
      errors.push(indexer.status().error)
      if (asked % 4 === 0) throw down()
      return undefined
    }
    const loop = start(indexer)
    await until('the first failure', () => waits().length === 1)
    await clock.advance(60_000)
    expect(indexer.status()).toMatchObject({ indexed: 60, error: null })
    expect(waits().filter((ms) => ms !== 1_000)).toEqual(Array.from({ length: Math.floor(asked / 4) }, () => 250))
    expect(ofType('chain.failed')).toEqual([])
    // The failed range is read first; the range after it is read behind a commit.
    expect(errors.slice(4, 8).map((error) => error !== null)).toEqual([true, false, false, false])
    await loop.stop()
  })

  test('a broken history is reported at once, once, and retried every 30 seconds', async () => {
    const { chain, indexer, clock, catchUp, ofType, failures, waits } = setUpIndexer({ startBlock: 'head' })
    chain.mine(100)
    await catchUp()
    chain.fork(66)
    const loop = start(indexer)
    await until('the failure', () => waits().length === 1)
    expect(ofType('chain.failed')).toMatchObject([
      { chainId: 1, message: expect.stringContaining('ERR_CHAIN_HISTORY_BROKEN') },
    ])
    await clock.advance(60_000)
    expect(waits()).toEqual([30_000, 30_000, 30_000])
    expect(ofType('chain.failed')).toHaveLength(1)
    expect(failures().map(({ level }) => level)).toEqual(['error', 'error', 'error'])
    await loop.stop()
  })

  test('an adapter that breaks its port is reported at once, once, and retried every 30 seconds', async () => {
    const { chain, indexer, clock, ofType, waits } = setUpIndexer()
    chain.intercept = ([kind]) => (kind === 'head' ? { ...chain.at(0), hash: 'a hash of another kind' } : undefined)
    const loop = start(indexer)
    await until('the failure', () => waits().length === 1)
    await clock.advance(60_000)
    expect(ofType('chain.failed')).toMatchObject([{ message: expect.stringContaining('ERR_CHAIN_ADAPTER') }])
    expect(waits()).toEqual([30_000, 30_000, 30_000])
    await loop.stop()
  })

  test('a stop is reported even after a reported outage', async () => {
    const { chain, indexer, clock, catchUp, ofType, waits } = setUpIndexer({ finalityBlocks: 5 })
    chain.mine(100)
    await catchUp()
    await catchUp()
    chain.fork(6)
    chain.mine(1)
    chain.intercept = failing('head', Array.from({ length: 3 }, down))
    const loop = start(indexer)
    await until('the first failure', () => waits().length === 1)
    await clock.advance(10 * 60_000)
    expect(ofType('chain.failed')).toMatchObject([
      { message: expect.stringContaining('ERR_CHAIN_UNAVAILABLE') },
      { message: expect.stringContaining('ERR_CHAIN_REORG_TOO_DEEP') },
    ])
    await loop.stop()
  })

  test('a reorganisation beyond finality is reported at once, once, and checked every 30 seconds', async () => {
    const { chain, indexer, clock, catchUp, ofType, failures, waits, checkpoint } = setUpIndexer({ finalityBlocks: 5 })
    chain.mine(100)
    await catchUp()
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
    expect(indexer.status()).toMatchObject({ indexed: 100, leading: true, reorganisations: 0 })
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

  test('any number of announcements during a step make one more step', async () => {
    const { chain, indexer, waits } = setUpIndexer()
    const asked = deferred()
    const answer = deferred()
    chain.intercept = async ([kind]) => {
      if (kind !== 'head') return undefined
      const head = chain.at(chain.endpoints()[0]?.head ?? 0)
      asked.resolve()
      await answer.promise
      chain.intercept = null
      return head
    }
    const loop = start(indexer)
    await asked.promise
    chain.mine(1)
    chain.wake()
    chain.wake()
    answer.resolve()
    await until('the wait', () => waits().length === 1)
    expect(indexer.status().indexed).toBe(1)
    expect(chain.calls.filter(([kind]) => kind === 'head')).toHaveLength(2)
    await loop.stop()
  })

  test('announcements do not shorten the backoff of a failing node', async () => {
    const { chain, indexer, clock, waits } = setUpIndexer()
    chain.intercept = failing('head', Array.from({ length: 5 }, down))
    const loop = start(indexer)
    await until('the first failure', () => waits().length === 1)
    chain.wake()
    await clock.advance(249)
    expect(chain.calls).toHaveLength(1)
    await clock.advance(1)
    expect(chain.calls).toHaveLength(2)
    await loop.stop()
  })

  test('a reorganisation during downtime is found by the first step', async () => {
    const before = setUpIndexer()
    before.chain.mine(9, paymentAt)
    await before.catchUp()
    before.chain.fork(4, paymentAt)
    before.chain.mine(2, paymentAt)
    const after = setUpIndexer({}, before)
    const loop = start(after.indexer)
    await until('the head', () => after.indexer.status().indexed === 11)
    expect(after.ofType('chain.reorganised')).toEqual([
      { type: 'chain.reorganised', chainId: 1, from: 9, commonAncestor: 5 },
    ])
    expect(after.indexer.status()).toMatchObject({
      reorganisations: 1,
      newestReorganisations: [{ at: expect.any(Number), from: 9, commonAncestor: 5 }],
    })
    expect(after.store.committed.snapshots).toHaveLength(11)
    await loop.stop()
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
    const { chain, indexer, catchUp, store, events } = setUpIndexer({ maxRange: 2 })
    await catchUp()
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

  test('an abort between reading and committing commits nothing', async () => {
    const { chain, indexer, store, failures } = setUpIndexer()
    chain.mine(3)
    const loop = start(indexer)
    chain.intercept = ([kind]) => {
      if (kind === 'range') loop.abort()
      return undefined
    }
    await loop.stop()
    expect(store.committed.heights).toEqual([])
    expect(failures()).toEqual([])
  })

  test('an aborted signal reads nothing', async () => {
    const { chain, indexer } = setUpIndexer()
    await indexer.run(AbortSignal.abort())
    expect(chain.calls).toEqual([])
  })
})
