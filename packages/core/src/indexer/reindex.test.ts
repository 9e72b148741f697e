/** The operator's reindex: each repair has its record in the audit log. */
import { expect, test } from 'vitest'
import { applyUpdate } from '../../test/support/apply-update.js'
import { fakeChain } from '../../test/support/fake-chain.js'
import { down, paymentAt, setUpIndexer } from '../../test/support/indexer-setup.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { CheckpointChangedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { createAudited } from '../history/audit-log.js'
import type { PaymentFacts } from '../payments/payment.js'
import type { Chain } from '../ports/chain.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createChainCommands, type ReindexReport, type ReindexRequest, reindex } from './reindex.js'
import { DeepReorgError } from './reorganize.js'

const finalityBlocks = 12
const names = (...heights: number[]) => heights.map((height) => hashOf(`payment at ${height}`))

/** A chain with a payment in each block, indexed from a node that answers them as `falsify` changes them. */
async function indexed(blocks: number, falsify: (facts: PaymentFacts) => PaymentFacts[] = (facts) => [facts]) {
  const setup = setUpIndexer({ finalityBlocks, maxRange: 10 })
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
  const find = (hash: string) => store.committed.payments.find(({ txHash }) => txHash === hash)
  return {
    ...setup,
    reindexed: events,
    slept,
    async all(request: ReindexRequest, through: Chain = chain) {
      const reports: ReindexReport[] = []
      for await (const report of reindex({ ...deps, chain: through }, request)) reports.push(report)
      return { reports, differences: reports.flatMap(({ differences }) => differences) }
    },
    find,
    stored: (height: number) => find(hashOf(`payment at ${height}`)),
  }
}

const forged = hashOf('forged')
/** A second payment in the block at this height, which is not on the chain. */
const addForged = (height: number) => (facts: PaymentFacts) =>
  facts.blockNumber === height ? [facts, { ...facts, txHash: forged, logIndex: 9 }] : [facts]

test('a reindex reports ranges, proof and node, and no difference where there is none', async () => {
  const { all, store } = await indexed(25)
  const before = store.dump()
  const { reports } = await all({ from: 3, repair: false })
  const same = { proof: 'root', node: 'node.test #1', differences: [], repaired: false }
  const ranges = [3, 13, 23].map((from) => ({ from, to: Math.min(from + 9, 25) }))
  expect(reports).toEqual(ranges.map((range) => ({ range, ...same })))
  expect(store.dump()).toEqual(before)
  expect((await all({ from: 3, repair: true })).differences).toEqual([])
  expect(store.dump()).toEqual(before)
})

test('a reindex repairs differences: version 1 for a missing payment, no version for a changed one, failure for an extra one', async () => {
  const { all, store, find, stored, reindexed, chain } = await indexed(30, (facts) => {
    if (facts.blockNumber === 5) return []
    if (facts.blockNumber === 6) return [{ ...facts, receiver: `0x${'66'.repeat(20)}`, memoHex: hashOf('memo') }]
    return addForged(7)(facts)
  })
  const { reports, differences } = await all({ from: 0, repair: true })
  const [missing, changed] = names(5, 6)
  expect(differences).toEqual([
    { kind: 'missing', txHash: missing, ordinal: 0 },
    { kind: 'changed', txHash: changed, ordinal: 0, fields: ['receiver', 'memoHex'] },
    { kind: 'extra', txHash: forged, ordinal: 0 },
  ])
  expect(reports.filter(({ repaired }) => repaired)).toHaveLength(1)
  expect(stored(5)).toMatchObject({ version: 1, state: null })
  expect(stored(6)).toMatchObject({ ...chain.rangeOf(6, 6).payments[0], version: 1 })
  expect(find(forged)).toMatchObject({ version: 2, state: 'failure', offChain: true, dropped: { formerState: null } })
  expect(reindexed.map(({ type }) => type)).toEqual(['payment.indexed', 'payment.changed'])
  expect(store.committed.snapshots).toHaveLength(30 + 2)
  expect((await all({ from: 0, repair: true })).differences).toEqual([])
})

test('an extra payment of a reindex is dropped only once its height is final', async () => {
  const { all, find, chain, catchUp } = await indexed(30, addForged(25))
  await all({ from: 0, repair: true })
  expect(find(forged)).toMatchObject({ version: 1, state: null, offChain: true, dropped: null })
  chain.mine(7)
  await catchUp()
  expect(find(forged)).toMatchObject({ version: 2, state: 'failure' })
})

test('a reindex stores the proof of the blocks that it read, and no other', async () => {
  const { all, store, chain } = await indexed(30)
  chain.proof = 'bloom'
  await all({ from: 11, to: 20, repair: true })
  const proofs = (await store.chains.proofs(1, 9)).map(({ from, to, proof }) => `${from}-${to} ${proof}`)
  expect(proofs).toEqual(['21-30 root', '11-20 bloom', '0-10 root'])
})

test('a reindex ignores payments of an unlisted router and payments from another chain', async () => {
  const { all, store, stored } = await indexed(30)
  const [one, two] = [stored(5), stored(6)]
  if (!one || !two) throw new Error('not stored')
  const router = { address: `0x${'44'.repeat(20)}`, version: '0.1' }
  const source = { chainId: 10, txHash: hashOf('away') }
  await store.transaction((tx) =>
    tx.upsertPayments([
      { facts: { ...one, txHash: hashOf('unlisted'), router }, primary: true },
      { facts: { ...two, txHash: hashOf('bridged'), source }, primary: true },
    ]),
  )
  expect((await all({ from: 0, repair: true })).differences).toEqual([])
})

test.each([
  ['from above to', { from: 9, to: 8 }],
  ['to above the checkpoint', { from: 9, to: 31 }],
  ['from below 0', { from: -1 }],
  ['from in between', { from: 1.5 }],
])('a reindex with %s is a RangeError', async (_case, request) => {
  const { all } = await indexed(30)
  await expect(all({ ...request, repair: false })).rejects.toThrow(RangeError)
})

test('a reindex of a chain without indexed blocks is rejected', async () => {
  const [chain, store] = [fakeChain(), openStore()]
  const reports = reindex({ store, chain, publish: () => undefined }, { from: 0, repair: false })
  await expect(reports.next()).rejects.toMatchObject({ code: 'ERR_REINDEX_REJECTED' })
})

test('a node on another fork repairs nothing', async () => {
  const { all, store, chain, catchUp } = await indexed(30)
  const stale = fakeChain()
  stale.mine(28, paymentAt)
  stale.fork(5)
  stale.mine(2)
  const { payments } = store.committed
  await expect(all({ from: 20, to: 29, repair: true }, stale)).rejects.toMatchObject({ code: 'ERR_REINDEX_REJECTED' })
  const honestAtTheCheckpoint: Chain = {
    ...(stale as Chain),
    block: async (number) => (number === 30 ? chain.at(30) : stale.block(number)),
  }
  await expect(all({ from: 20, to: 29, repair: true }, honestAtTheCheckpoint)).rejects.toMatchObject({
    code: 'ERR_CHAIN_RANGE_GONE',
  })
  expect(store.committed.payments).toEqual(payments)
  chain.mine(1)
  await catchUp()
})

test('a failed read is retried at the same block, at most six times in a row', async () => {
  const { all, chain, slept } = await indexed(30, (facts) => (facts.blockNumber === 25 ? [] : [facts]))
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

test('a moved checkpoint is retried at most five times in a row, at once, and counted apart from failed reads', async () => {
  const { all, chain, slept } = await indexed(30)
  let reads = 0
  chain.intercept = ([what]) => {
    reads += what === 'range' ? 1 : 0
    if (what === 'range') throw reads % 2 === 1 ? new CheckpointChangedError(1) : down()
  }
  await expect(all({ from: 1, repair: true })).rejects.toThrow(CheckpointChangedError)
  expect([reads, slept]).toEqual([11, [250, 500, 1_000, 2_000, 4_000]])
})

/** 60 blocks; 45 replace the newest 40, and include the payments of every third of them again, 3 blocks higher. */
async function stopped() {
  const parts = await indexed(60)
  const { chain, store, indexer } = parts
  await applyUpdate(store, { id: 'u', chainId: '1', txHash: names(22)[0] ?? '', state: 'success' })
  chain.fork(40, (height) => (height % 3 === 0 && height > 23 ? paymentAt(height - 3) : []))
  chain.mine(5, (height) => [`after ${height}`])
  await expect(indexer.step()).rejects.toThrow(DeepReorgError)
  return parts
}
const gone = Array.from({ length: 40 }, (_, n) => 21 + n).filter((height) => height % 3 !== 0 || height > 57)

test('after a reorg that was too deep to follow, the chain is followed again: missing payments fail, payments that are included again are unchanged', async () => {
  const { all, catchUp, checkpoint, chain, stored, store, indexer, reindexed } = await stopped()
  const { differences } = await all({ from: 21, repair: true })
  expect(reindexed[0]).toEqual({ type: 'chain.reorganized', chainId: 1, from: 60, commonAncestor: 20 })
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
  const versions = store.committed.payments.reduce((sum, { version }) => sum + version, 0)
  expect(store.committed.snapshots).toHaveLength(versions)
  expect((await all({ from: 0, repair: true })).differences).toEqual([])
})

test.each([
  ['begins too high', { from: 30 }, 'begin at 29 or below'],
  ['ends before the checkpoint', { from: 21, to: 50 }, 'read up to it'],
  ['begins below every stored block', { from: 0 }, 'no block below 0'],
])('after a reorg too deep to follow, a reindex that %s changes nothing', async (_case, request, message) => {
  const { all, store } = await stopped()
  const before = store.dump()
  const rejected = all({ ...request, repair: true })
  await expect(rejected).rejects.toMatchObject({ code: 'ERR_REINDEX_REJECTED' })
  await expect(rejected).rejects.toThrow(message)
  expect(store.dump()).toEqual(before)
})

const keys = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')

async function setup() {
  const { store, chain, stored } = await indexed(10, (facts) => [{ ...facts, memoHex: `0x${'ee'.repeat(32)}` }])
  const clock = manualClock()
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'operator:olga' })
  const { reindex } = createChainCommands({ store, chains: [chain], audited, clock, publish: () => undefined })
  const audit = () =>
    store.committed.audit.map(({ actor, action, subject, details }) => [actor, action, subject, details])
  return { reindex, audit, stored, chain }
}

async function run(reports: AsyncIterable<{ readonly differences: readonly unknown[] }>): Promise<number> {
  let differences = 0
  for await (const report of reports) differences += report.differences.length
  return differences
}

test('a dry run finds the differences, changes nothing and leaves no record', async () => {
  const { reindex, audit, stored } = await setup()
  expect(await run(reindex({ chainId: 1, from: 3, to: 5, repair: false }))).toBe(3)
  expect(stored(4)?.memoHex).toBe(`0x${'ee'.repeat(32)}`)
  expect(audit()).toEqual([])
})

test.each([
  ['the configured nodes', {}],
  ['another chain object', { adapter: 'another node' }],
])('a repair through %s is recorded once with its blocks, in the name of its actor', async (_what, change) => {
  const { reindex, audit, stored, chain } = await setup()
  const through = 'adapter' in change ? { ...chain, ...change } : undefined
  expect(await run(reindex({ chainId: 1, from: 3, repair: true, through }))).toBe(8)
  expect(stored(4)?.memoHex).not.toBe(`0x${'ee'.repeat(32)}`)
  expect(audit()).toEqual([['operator:olga', 'chain.repair_started', '1', { from: 3, to: 10 }]])
})

test('blocks that are not indexed and a chain that is not followed are rejected without a record', async () => {
  const { reindex, audit, chain } = await setup()
  await expect(run(reindex({ chainId: 1, from: 3, to: 99, repair: true }))).rejects.toThrow('not indexed yet')
  for (const through of [undefined, { ...chain, adapter: 'another node' }])
    await expect(run(reindex({ chainId: 7, from: 0, repair: true, through }))).rejects.toThrow(
      'Chain 7 is not followed by this process.',
    )
  expect(audit()).toEqual([])
})
