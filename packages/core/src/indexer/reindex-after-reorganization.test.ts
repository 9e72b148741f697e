import { describe, expect, test } from 'vitest'
import { applyUpdate } from '../../test/support/apply-update.js'
import { bridgeDeposit, getFulfilment } from '../../test/support/bridge.js'
import { paymentAt } from '../../test/support/indexer-setup.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { finalityBlocks, indexed, names } from '../../test/support/reindex-setup.js'
import { awaitedBlocks } from '../payments/state.js'
import type { BridgeDeposit, Fulfilment } from '../ports/chain.js'
import { createFulfilmentPoller } from './fulfilments.js'
import { DeepReorganizationError } from './reorganize.js'

/** A deposit and its fulfilment. */
interface Pair {
  readonly deposit: BridgeDeposit
  readonly fulfilment: Fulfilment
}

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
    await expect(indexer.step()).rejects.toThrow(DeepReorganizationError)
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
    const versions = store.committed.payments.reduce((sum, { version }) => sum + version, 0)
    expect(store.committed.snapshots).toHaveLength(versions)
    expect((await all({ from: 0, repair: true })).differences).toEqual([])
  })

  test('a payment from another chain stays when its fulfilment is included again, and fails when it is not', async () => {
    const { all, catchUp, store, chain } = await stopped()
    const [stays, goes] = ['stays', 'goes'].map((name, index) => {
      const deposit = bridgeDeposit(name, { depositId: name, destinationChainId: 1 })
      const payment = { ...deposit.payment, chainId: 137 }
      const blockNumber = 30 + index
      const block = { blockNumber, blockHash: store.committed.heights[blockNumber]?.blockHash }
      return {
        deposit: { ...deposit, payment },
        fulfilment: getFulfilment(name, deposit, { chainId: 1, ...block } as object),
      }
    }) as [Pair, Pair]
    await store.transaction((tx) => tx.upsertDeposits([stays.deposit, goes.deposit]))
    const fills = new Map([stays, goes].map(({ deposit, fulfilment }) => [deposit.depositId, fulfilment]))
    const source = { lookup: async ({ depositId }: BridgeDeposit) => fills.get(depositId) ?? null }
    const world = { publish: () => undefined, clock: manualClock(), logger: recordingLogger() }
    const poller = createFulfilmentPoller({ store, source, followed: new Set([1]), ...world })
    expect(await poller.runOnce()).toBe(2)
    const isStored = ({ fulfilment }: Pair) =>
      store.committed.payments.find(({ txHash }) => txHash === fulfilment.txHash)

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

  test.each([
    ['begins too high', { from: 30 }, 'begin at 29 or below'],
    ['ends before the checkpoint', { from: 21, to: 50 }, 'read up to it'],
    ['begins below every stored block', { from: 0 }, 'no block below 0'],
  ])('a reindex that %s is rejected and changes nothing', async (_case, request, message) => {
    const { all, store } = await stopped()
    const before = store.dump()
    const refused = all({ ...request, repair: true })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_REINDEX_REJECTED' })
    await expect(refused).rejects.toThrow(message)
    expect(store.dump()).toEqual(before)
  })
})
