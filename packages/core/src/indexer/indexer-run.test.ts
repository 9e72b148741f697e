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

  test('catches up without sleeping, then looks at the head every poll interval', async () => {
    const { chain, indexer, clock, ranges } = setUpIndexer({ maxRange: 2, pollMs: 400 })
    chain.mine(9)
    const loop = start(indexer)
    await until('the head', () => clock.sleepers().length === 1)
    expect(ranges()).toHaveLength(6)
    expect(clock.slept).toEqual([400])
    chain.mine(1)
    await clock.advance(399)
    expect(indexer.status().indexed).toBe(9)
    await clock.advance(1)
    expect(indexer.status().indexed).toBe(10)
    await loop.stop()
    expect(clock.sleepers()).toEqual([])
  })

  test('backs off exponentially, reports an outage once, and goes on by itself', async () => {
    const { chain, indexer, clock, ofType, logger } = setUpIndexer()
    chain.mine(3)
    const errors = Array.from({ length: 10 }, down)
    chain.intercept = failing('head', errors)
    const loop = start(indexer)
    await until('the first failure', () => clock.sleepers().length === 1)
    expect(ofType('chain.failed')).toEqual([])
    expect(indexer.status().error).toBe('ERR_CHAIN_UNAVAILABLE: no answer from the node')
    await clock.advance(250 + 500)
    expect(ofType('chain.failed')).toEqual([
      { type: 'chain.failed', chainId: 1, message: 'ERR_CHAIN_UNAVAILABLE: no answer from the node' },
    ])
    await clock.advance(10 * 60_000)
    expect(clock.slept.slice(0, 10)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    expect(ofType('chain.failed')).toHaveLength(1)
    expect(logger.lines).toHaveLength(10)
    expect(indexer.status()).toMatchObject({ indexed: 3, error: null })
    const recovered = clock.slept.length
    chain.intercept = failing('head', Array.from({ length: 3 }, down))
    await clock.advance(60_000)
    expect(ofType('chain.failed')).toHaveLength(2)
    expect(clock.slept.slice(recovered, recovered + 4)).toEqual([250, 500, 1_000, 1_000])
    await loop.stop()
  })

  test('a node that refuses long ranges is read in shorter ones; every block is read once', async () => {
    const { chain, indexer, clock, store, ofType } = setUpIndexer({ maxRange: 100 })
    chain.mine(499, paymentAt)
    chain.intercept = (call) => {
      if (call[0] === 'range' && call[2] - call[1] + 1 > 30) throw down()
      return undefined
    }
    const loop = start(indexer)
    await until('a failure', () => clock.sleepers().length === 1)
    await clock.advance(10 * 60_000)
    expect(indexer.status()).toMatchObject({ indexed: 499, error: null })
    expect(store.committed().payments.size).toBe(499)
    const tops = ofType('chain.indexed').map(({ blockNumber }) => blockNumber)
    expect(tops).toEqual([...new Set(tops)].sort((a, b) => a - b))
    await loop.stop()
  })

  test('a broken history is reported at once, once, and retried every 30 seconds', async () => {
    const { chain, indexer, clock, catchUp, ofType, logger } = setUpIndexer({ startBlock: 'head' })
    chain.mine(100)
    await catchUp()
    chain.fork(66)
    const loop = start(indexer)
    await until('the failure', () => clock.sleepers().length === 1)
    expect(ofType('chain.failed')).toMatchObject([
      { chainId: 1, message: expect.stringContaining('ERR_CHAIN_HISTORY_BROKEN') },
    ])
    await clock.advance(60_000)
    expect(clock.slept).toEqual([30_000, 30_000, 30_000])
    expect(ofType('chain.failed')).toHaveLength(1)
    expect(logger.lines.every(({ level }) => level === 'error')).toBe(true)
    await loop.stop()
  })

  test('an abort while the node hangs ends the loop, without an error and without a commit', async () => {
    const { chain, indexer, store, logger, clock } = setUpIndexer()
    chain.mine(3)
    chain.intercept = ([kind], signal) =>
      kind === 'range'
        ? new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        : undefined
    const loop = start(indexer)
    await until('the question', () => chain.calls.some(([kind]) => kind === 'range'))
    await loop.stop()
    expect(store.committed().checkpoints.size).toBe(0)
    expect(logger.lines).toEqual([])
    expect(indexer.status().error).toBeNull()
    expect(clock.slept).toEqual([])
  })

  test('an abort during a commit lets it finish, and ends the loop after it', async () => {
    const { chain, indexer, catchUp, store, events } = setUpIndexer({ maxRange: 2 })
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
    const { chain, indexer, store, logger } = setUpIndexer()
    chain.mine(3)
    const loop = start(indexer)
    chain.intercept = ([kind]) => {
      if (kind === 'range') loop.abort()
      return undefined
    }
    await loop.stop()
    expect(store.committed().checkpoints.size).toBe(0)
    expect(logger.lines).toEqual([])
  })

  test('an aborted signal reads nothing', async () => {
    const { chain, indexer } = setUpIndexer()
    await indexer.run(AbortSignal.abort())
    expect(chain.calls).toEqual([])
  })
})
