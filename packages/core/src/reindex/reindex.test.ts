import { describe, expect, test } from 'vitest'
import { bridgeDeposit, fulfilmentOf } from '../../test/support/bridge.js'
import { fakeChain } from '../../test/support/fake-chain.js'
import { down, type IndexerParts, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { memoryStore } from '../../test/support/memory-store.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { hashOf } from '../../test/support/stored-payment.js'
import type { ServiceEvent } from '../events.js'
import { createFulfilmentPoller } from '../fulfilments/poller.js'
import { DeepReorganisationError } from '../indexer/deep-reorganisation-error.js'
import { createFinality } from '../legacy/finality.js'
import { awaitedBlocks } from '../payments/drop.js'
import type { PaymentFacts } from '../payments/facts.js'
import type { Chain } from '../ports/chain.js'
import type { BridgeDeposit, Fulfilment } from '../ports/fulfilment.js'
import { applyUpdate } from '../updates/apply-update.js'
import { type ReindexReport, type ReindexRequest, reindex } from './reindex.js'

/** A deposit and its fulfilment. */
interface Pair {
  readonly deposit: BridgeDeposit
  readonly fulfilment: Fulfilment
}

const finalityBlocks = 12
const names = (...heights: number[]) => heights.map((height) => hashOf(`payment at ${height}`))

/** A chain with a payment in each block, indexed from an endpoint that answers them as `falsify` changes them. */
async function indexed(blocks: number, falsify: (facts: PaymentFacts) => PaymentFacts[] = (facts) => [facts]) {
  const parts: IndexerParts = { chain: fakeChain(), store: memoryStore() }
  const setup = setUpIndexer({ finalityBlocks, maxRange: 10 }, parts)
  const { chain, store } = setup
  chain.mine(blocks, paymentAt)
  chain.intercept = (call) => {
    if (call[0] !== 'range') return undefined
    const range = chain.rangeOf(call[1], call[2])
    return { ...range, payments: range.payments.flatMap(falsify) }
  }
  await setup.catchUp()
  chain.intercept = null
  const events: ServiceEvent[] = []
  const slept: number[] = []
  const clock = { now: () => 0, sleep: async (ms: number) => void slept.push(ms) }
  const random = { fraction: () => 1, bytes: (length: number) => new Uint8Array(length) }
  const publish = (event: ServiceEvent) => events.push(event)
  const deps = { store, publish, clock, random, confirmations: { 1: finalityBlocks } }
  const run = (request: ReindexRequest, through: Chain = chain, signal?: AbortSignal) =>
    reindex({ ...deps, chain: through }, request, signal)
  return {
    ...setup,
    reindexed: events,
    slept,
    run,
    async all(request: ReindexRequest, through?: Chain) {
      const reports: ReindexReport[] = []
      for await (const report of run(request, through)) reports.push(report)
      return { reports, differences: reports.flatMap(({ differences }) => differences) }
    },
    payments: () => [...store.committed().payments.values()].sort((a, b) => a.blockNumber - b.blockNumber),
    stored: (height: number) => store.committed().payments.get(`1:${hashOf(`payment at ${height}`)}:0`),
  }
}

const without =
  (...hashes: string[]) =>
  (facts: PaymentFacts) =>
    hashes.includes(facts.txHash) ? [] : [facts]
const forged = hashOf('forged')

describe('a reindex', () => {
  test('reports ranges, proof and endpoint, and no difference where there is none', async () => {
    const { all, store } = await indexed(25)
    const before = store.committed()
    const { reports } = await all({ from: 3, repair: false })
    expect(reports).toEqual(
      [
        [3, 12],
        [13, 22],
        [23, 25],
      ].map(([from, to]) => ({
        range: { from, to },
        proof: 'root',
        endpoint: 'node.test #1',
        differences: [],
        repaired: false,
      })),
    )
    expect(store.committed()).toEqual(before)
    expect((await all({ from: 3, repair: true })).differences).toEqual([])
    expect(store.committed()).toEqual(before)
  })

  const falsified = (facts: PaymentFacts): PaymentFacts[] => {
    if (facts.blockNumber === 5) return []
    if (facts.blockNumber === 6) return [{ ...facts, receiver: `0x${'66'.repeat(20)}`, memoHex: hashOf('memo') }]
    return facts.blockNumber === 7 ? [facts, { ...facts, txHash: forged, logIndex: 9 }] : [facts]
  }
  const [txMissing, txChanged] = names(5, 6)
  const found = [
    { kind: 'missing', txHash: txMissing, ordinal: 0 },
    { kind: 'changed', txHash: txChanged, ordinal: 0, fields: ['receiver', 'memoHex'] },
    { kind: 'extra', txHash: forged, ordinal: 0 },
  ]

  test('reports missing, changed and extra payments without a write', async () => {
    const { all, store } = await indexed(30, falsified)
    const before = store.committed()
    expect((await all({ from: 0, repair: false })).differences).toEqual(found)
    expect(store.committed()).toEqual(before)
  })

  test('repairs them: version 1 for the missing one, no version for the changed one, failure for the extra one', async () => {
    const { all, store, payments, stored, reindexed, chain } = await indexed(30, falsified)
    const { reports, differences } = await all({ from: 0, repair: true })
    expect(differences).toEqual(found)
    expect(reports.filter(({ repaired }) => repaired)).toHaveLength(1)
    expect(stored(5)).toMatchObject({ version: 1, state: null })
    expect(stored(6)).toMatchObject({ ...chain.rangeOf(6, 6).payments[0], version: 1 })
    const extra = payments().find(({ txHash }) => txHash === forged)
    expect(extra).toMatchObject({ version: 2, state: 'failure', offChain: true, dropped: { formerState: null } })
    expect(reindexed.map(({ type }) => type)).toEqual(['payment.indexed', 'payment.changed'])
    expect(store.committed().snapshots).toHaveLength(30 + 2)
    expect((await all({ from: 0, repair: true })).differences).toEqual([])
  })

  test('an extra payment is dropped only once its height is final', async () => {
    const { all, payments, chain, catchUp } = await indexed(30, (facts) =>
      facts.blockNumber === 25 ? [facts, { ...facts, txHash: forged, logIndex: 9 }] : [facts],
    )
    await all({ from: 0, repair: true })
    const extra = () => payments().find(({ txHash }) => txHash === forged)
    expect(extra()).toMatchObject({ version: 1, state: null, offChain: true, dropped: null })
    chain.mine(7)
    await catchUp()
    expect(extra()).toMatchObject({ version: 2, state: 'failure' })
  })

  test('stores the proof of the blocks that it read, and no other', async () => {
    const { all, store, chain } = await indexed(30)
    chain.proof = 'bloom'
    await all({ from: 11, to: 20, repair: true })
    expect((await store.chains.proofs(1, 9)).map(({ from, to, proof }) => [from, to, proof])).toEqual([
      [21, 30, 'root'],
      [11, 20, 'bloom'],
      [0, 10, 'root'],
    ])
  })

  test('a payment that is wrongly marked as off the chain is reported and restored', async () => {
    const { all, store, stored } = await indexed(30)
    await store.transaction((tx) => tx.leavePayments([stored(9)?.id ?? '']))
    const differences = [{ kind: 'changed', txHash: names(9)[0], ordinal: 0, fields: ['offChain'] }]
    expect((await all({ from: 0, repair: true })).differences).toEqual(differences)
    expect(stored(9)).toMatchObject({ version: 1, offChain: false })
  })

  test('payments of an unlisted router and payments from another chain are ignored', async () => {
    const { all, store, stored } = await indexed(30)
    store.seed(({ payments }) => {
      const [one, two] = [stored(5), stored(6)]
      if (!one || !two) throw new Error('not stored')
      payments.set('unlisted', {
        ...one,
        id: 'unlisted',
        txHash: hashOf('unlisted'),
        router: { address: `0x${'44'.repeat(20)}`, version: '0.1' },
      })
      payments.set('bridged', {
        ...two,
        id: 'bridged',
        txHash: hashOf('bridged'),
        source: { chainId: 10, txHash: hashOf('away') },
      })
    })
    expect((await all({ from: 0, repair: true })).differences).toEqual([])
  })

  test.each([
    ['from above to', { from: 9, to: 8 }],
    ['to above the checkpoint', { from: 9, to: 31 }],
    ['from below 0', { from: -1 }],
    ['from in between', { from: 1.5 }],
  ])('%s is a RangeError', async (_case, request) => {
    const { all } = await indexed(30)
    await expect(all({ ...request, repair: false })).rejects.toThrow(RangeError)
  })

  test('a chain without indexed blocks is rejected', async () => {
    const [chain, store] = [fakeChain(), memoryStore()]
    const reports = reindex({ store, chain, publish: () => undefined }, { from: 0, repair: false })
    await expect(reports.next()).rejects.toMatchObject({ code: 'ERR_REINDEX_REFUSED' })
  })

  test('ends when the signal aborts, and keeps its repairs until then', async () => {
    const { run, store } = await indexed(30, without(...names(5, 25)))
    const stop = new AbortController()
    await expect(
      (async () => {
        for await (const _report of run({ from: 1, repair: true }, undefined, stop.signal)) stop.abort()
      })(),
    ).rejects.toThrow()
    expect(store.committed().payments.size).toBe(29)
  })
})

describe('beside an indexer', () => {
  test('an endpoint on another fork repairs nothing', async () => {
    const { all, store, chain, catchUp } = await indexed(30)
    const stale = fakeChain()
    stale.mine(28, paymentAt)
    stale.fork(5)
    stale.mine(2)
    const before = store.committed()
    await expect(all({ from: 20, to: 29, repair: true }, stale)).rejects.toMatchObject({ code: 'ERR_REINDEX_REFUSED' })
    const honestAtTheCheckpoint: Chain = {
      ...stale,
      block: async (number) => (number === 30 ? chain.at(30) : stale.block(number)),
    }
    await expect(all({ from: 20, to: 29, repair: true }, honestAtTheCheckpoint)).rejects.toMatchObject({
      code: 'ERR_CHAIN_RANGE_GONE',
    })
    expect(store.committed().payments).toEqual(before.payments)
    chain.mine(1)
    await catchUp()
  })

  test('a failed read is retried at the same block, at most six times in a row', async () => {
    const { all, chain, slept } = await indexed(30, without(...names(25)))
    let reads = 0
    chain.intercept = ([what]) => {
      reads += what === 'range' ? 1 : 0
      if (what === 'range' && reads % 2 === 1) throw down()
    }
    expect((await all({ from: 1, repair: true })).differences).toMatchObject([{ kind: 'missing' }])
    expect(slept.splice(0)).toEqual([250, 250, 250])
    chain.intercept = ([what]) => (what === 'range' ? Promise.reject(down()) : undefined)
    await expect(all({ from: 1, repair: true })).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
    expect(slept).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000])
  })

  test('an endpoint that lags is not believed', async () => {
    const { all, store } = await indexed(30)
    const late = fakeChain()
    late.mine(28, paymentAt)
    const before = store.committed()
    await expect(all({ from: 20, repair: true }, late)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
    expect(store.committed()).toBe(before)
  })

  test('that commits at the same time, everything is repaired once', async () => {
    const { run, chain, catchUp, store, stored } = await indexed(30, without(...names(5, 15, 25)))
    for await (const _report of run({ from: 1, repair: true })) {
      chain.mine(1, paymentAt)
      await catchUp()
    }
    for (const height of [5, 15, 25]) expect(stored(height)).toMatchObject({ version: 1 })
    expect(store.committed().snapshots).toHaveLength(store.committed().payments.size)
    expect(store.committed().payments.size).toBe(33)
  })
})

describe('after a reorganisation that was too deep to follow', () => {
  /**
   * 60 blocks; 45 others replace the newest 40, and include the payments of every third of them again, 3 blocks higher.
   */
  async function stopped() {
    const parts = await indexed(60)
    const { chain, store, indexer } = parts
    await applyUpdate(store, { id: 'u', chainId: '1', txHash: names(22)[0] ?? '', state: 'success' })
    chain.fork(40, (height) => (height % 3 === 0 && height > 23 ? paymentAt(height - 3) : []))
    chain.mine(5, (height) => [`after ${height}`])
    await expect(indexer.step()).rejects.toThrow(DeepReorganisationError)
    return parts
  }
  const gone = Array.from({ length: 40 }, (_, n) => 21 + n).filter((height) => height % 3 !== 0 || height > 57)

  test('the chain is followed again: missing payments fail, payments that are included again are unchanged', async () => {
    const { all, catchUp, checkpoint, chain, stored, store, indexer, reindexed } = await stopped()
    const { differences } = await all({ from: 21, repair: true })
    expect(reindexed[0]).toEqual({ type: 'chain.reorganised', chainId: 1, from: 60, commonAncestor: 20 })
    const extra = differences.filter(({ kind }) => kind === 'extra').map(({ txHash }) => txHash)
    expect(extra).toEqual(expect.arrayContaining(names(22)))
    await catchUp()
    expect(await checkpoint()).toEqual({ blockNumber: 65, blockHash: chain.at(65).hash })
    expect(indexer.status().error).toBeNull()
    for (const height of gone.filter((at) => at + finalityBlocks <= 65))
      expect(stored(height), `${height}`).toMatchObject({
        state: 'failure',
        version: height === 22 ? 3 : 2,
        dropped: { formerState: height === 22 ? 'success' : null },
      })
    for (let height = 24; height <= 57; height += 3)
      expect(stored(height)).toMatchObject({ version: 1, state: null, offChain: false, blockNumber: height + 3 })
    const versions = [...store.committed().payments.values()].reduce((sum, { version }) => sum + version, 0)
    expect(store.committed().snapshots).toHaveLength(versions)
    expect((await all({ from: 0, repair: true })).differences).toEqual([])
  })

  test('a payment from another chain stays when its fulfilment is included again, and fails when it is not', async () => {
    const { all, catchUp, store, chain } = await stopped()
    const [stays, goes] = ['stays', 'goes'].map((name, index) => {
      const deposit = bridgeDeposit(name, { depositId: name, destinationChainId: 1 })
      const payment = { ...deposit.payment, chainId: 137 }
      const blockNumber = 30 + index
      const block = { blockNumber, blockHash: store.committed().checkpoints.get(1)?.heights.get(blockNumber) }
      return {
        deposit: { ...deposit, payment },
        fulfilment: fulfilmentOf(name, deposit, { chainId: 1, ...block } as object),
      }
    }) as [Pair, Pair]
    await store.transaction((tx) => tx.upsertDeposits([stays.deposit, goes.deposit]))
    const fills = new Map([stays, goes].map(({ deposit, fulfilment }) => [deposit.depositId, fulfilment]))
    const source = { lookup: async ({ depositId }: BridgeDeposit) => fills.get(depositId) ?? null }
    const world = { publish: () => undefined, clock: manualClock(), logger: recordingLogger() }
    const poller = createFulfilmentPoller({ store, source, followed: new Set([1]), ...world })
    expect(await poller.runOnce()).toBe(2)
    const isStored = ({ fulfilment }: Pair) =>
      [...store.committed().payments.values()].find(({ txHash }) => txHash === fulfilment.txHash)

    fills.clear()
    await all({ from: 21, repair: true })
    await catchUp()
    for (const pair of [stays, goes])
      expect(isStored(pair)).toMatchObject({ offChain: true, version: 1, state: null, dropped: null })
    const { number: blockNumber, hash: blockHash } = chain.at(33)
    fills.set('stays', { ...stays.fulfilment, blockNumber, blockHash, logIndex: 77 })
    expect(await poller.runOnce()).toBe(1)
    chain.mine(awaitedBlocks)
    await catchUp()
    expect(isStored(stays)).toMatchObject({ offChain: false, version: 1, state: null, blockNumber, logIndex: 77 })
    expect(isStored(goes)).toMatchObject({ offChain: true, version: 2, state: 'failure' })
    fills.set('goes', { ...goes.fulfilment, blockNumber, blockHash })
    expect(await poller.runOnce()).toBe(1)
    expect(isStored(goes)).toMatchObject({ offChain: false, version: 3, state: null })
  })

  test('at every range a payment is final below the fork, or with its confirmations in the new blocks', async () => {
    const { run, store, checkpoint, payments } = await stopped()
    const { isFinal } = createFinality({ 1: finalityBlocks })
    let ranges = 0
    for await (const _report of run({ from: 21, repair: true })) {
      ranges += 1
      const indexed = (await checkpoint())?.blockNumber ?? 0
      for (const payment of payments().filter(({ offChain }) => !offChain)) {
        const { indexedTo } = await store.payments.transaction(payment)
        const { blockNumber } = payment
        const expected = blockNumber <= 20 || blockNumber + finalityBlocks <= indexed
        expect([blockNumber, isFinal(payment, indexedTo)], `at ${indexed}`).toEqual([blockNumber, expected])
      }
    }
    expect(ranges).toBe(4)
  })

  test('without repair the differences are reported and nothing is written', async () => {
    const { all, store } = await stopped()
    const before = store.committed()
    const { differences } = await all({ from: 21, repair: false })
    expect(new Set(differences.map(({ kind }) => kind))).toEqual(new Set(['missing', 'changed', 'extra']))
    expect(store.committed()).toEqual(before)
  })

  test('the indexer goes on by itself after a reindex that ended at any range', async () => {
    for (const ranges of [0, 1, 2, 3]) {
      const { run, catchUp, checkpoint, chain, payments } = await stopped()
      const reports = run({ from: 21, repair: true })
      for (let n = 0; n <= ranges; n += 1) await reports.next()
      await reports.return()
      await catchUp()
      expect(await checkpoint()).toEqual({ blockNumber: 65, blockHash: chain.at(65).hash })
      const onChain = payments().filter(({ offChain }) => !offChain)
      expect(onChain.map(({ txHash, blockHash }) => [txHash, blockHash])).toEqual(
        chain.rangeOf(0, 65).payments.map(({ txHash, blockHash }) => [txHash, blockHash]),
      )
    }
  })

  test('an indexer that commits at the same time changes nothing of the result', async () => {
    const { run, catchUp, checkpoint, chain, payments, store } = await stopped()
    let ranges = 0
    for await (const _report of run({ from: 21, repair: true })) {
      ranges += 1
      if (ranges === 2) await catchUp()
    }
    expect(await checkpoint()).toEqual({ blockNumber: 65, blockHash: chain.at(65).hash })
    const versions = payments().reduce((sum, { version }) => sum + version, 0)
    expect(store.committed().snapshots).toHaveLength(versions)
  })

  test.each([
    ['begins too high', { from: 30 }, 'begin at 29 or below'],
    ['ends before the checkpoint', { from: 21, to: 50 }, 'read up to it'],
    ['begins below every stored block', { from: 0 }, 'no block below 0'],
  ])('a reindex that %s is rejected and changes nothing', async (_case, request, message) => {
    const { all, store } = await stopped()
    const before = store.committed()
    const refused = all({ ...request, repair: true })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_REINDEX_REFUSED' })
    await expect(refused).rejects.toThrow(message)
    expect(store.committed()).toEqual(before)
  })
})
