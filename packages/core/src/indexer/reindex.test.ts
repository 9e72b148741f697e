import { describe, expect, test } from 'vitest'
import { fakeChain } from '../../test/support/fake-chain.js'
import { down, paymentAt } from '../../test/support/indexer-setup.js'
import { indexed, names } from '../../test/support/reindex-setup.js'
import { openStore } from '../../test/support/store.js'
import { hashOf } from '../../test/support/stored-payment.js'
import type { PaymentFacts } from '../payments/payment.js'
import type { Chain } from '../ports/chain.js'
import { reindex } from './reindex.js'

const without =
  (...hashes: string[]) =>
  (facts: PaymentFacts) =>
    hashes.includes(facts.txHash) ? [] : [facts]
const forged = hashOf('forged')

describe('a reindex', () => {
  test('reports ranges, proof and node, and no difference where there is none', async () => {
    const { all, store } = await indexed(25)
    const before = store.dump()
    const { reports } = await all({ from: 3, repair: false })
    expect(reports).toEqual(
      [
        [3, 12],
        [13, 22],
        [23, 25],
      ].map(([from, to]) => ({
        range: { from, to },
        proof: 'root',
        node: 'node.test #1',
        differences: [],
        repaired: false,
      })),
    )
    expect(store.dump()).toEqual(before)
    expect((await all({ from: 3, repair: true })).differences).toEqual([])
    expect(store.dump()).toEqual(before)
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
    expect(store.committed.snapshots).toHaveLength(30 + 2)
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

  test('payments of an unlisted router and payments from another chain are ignored', async () => {
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
  ])('%s is a RangeError', async (_case, request) => {
    const { all } = await indexed(30)
    await expect(all({ ...request, repair: false })).rejects.toThrow(RangeError)
  })

  test('a chain without indexed blocks is rejected', async () => {
    const [chain, store] = [fakeChain(), openStore()]
    const reports = reindex({ store, chain, publish: () => undefined }, { from: 0, repair: false })
    await expect(reports.next()).rejects.toMatchObject({ code: 'ERR_REINDEX_REJECTED' })
  })
})

describe('beside an indexer', () => {
  test('a node on another fork repairs nothing', async () => {
    const { all, store, chain, catchUp } = await indexed(30)
    const stale = fakeChain()
    stale.mine(28, paymentAt)
    stale.fork(5)
    stale.mine(2)
    const { payments } = store.committed
    await expect(all({ from: 20, to: 29, repair: true }, stale)).rejects.toMatchObject({ code: 'ERR_REINDEX_REJECTED' })
    const honestAtTheCheckpoint: Chain = {
      ...stale,
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
})
