/** Tests: how far a chain is indexed. @module */
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { denseHeights, maxStoredDepth, sparseStep } from '../../src/chains/checkpoints.js'
import { facts, hash, indexed, nextVersion, primary } from './fixtures.js'
import type { StoreTest } from './subject.js'

const at = (blockNumber: number) => ({ blockNumber, blockHash: hash(0xb000 + Math.floor(blockNumber)) })

/** Sets checkpoints of chain 1, one after the other. */
export async function reach(store: Store, ...heights: number[]): Promise<void> {
  for (const height of heights)
    await store.transaction(async (tx) => {
      await tx.lockChain(1)
      await tx.setCheckpoint(1, at(height))
    })
}

const listed = (store: Store, atOrBelow: number, limit: number) =>
  store.transaction(async (tx) => (await tx.checkpoints(1, atOrBelow, limit)).map(({ blockNumber }) => blockNumber))

/** Climbs by `step`, with every height in between. */
const climb = (store: Store, from: number, to: number, step: number) =>
  store.transaction(async (tx) => {
    await tx.lockChain(1)
    for (let last = from; last < to; ) {
      const next = Math.min(last + step, to)
      const below = Array.from({ length: next - last - 1 }, (_, n) => at(last + 1 + n))
      await tx.setCheckpoint(1, at(next), below)
      last = next
    }
  })

export function checkpointTests(test: StoreTest): void {
  test('a chain without a checkpoint has none', async ({ store }) => {
    expect(await store.payments.checkpoint(1)).toBeNull()
    expect(await store.transaction((tx) => tx.lockChain(1))).toBeNull()
    expect(await listed(store, 100, 10)).toEqual([])
  })

  test('the newest checkpoint of each chain is read, inside a transaction and outside', async ({ store }) => {
    await reach(store, 5, 9)
    await store.transaction((tx) => tx.setCheckpoint(2, at(4)))
    expect(await store.payments.checkpoint(1)).toEqual(at(9))
    expect(await store.payments.checkpoint(2)).toEqual(at(4))
    expect(await store.transaction((tx) => tx.lockChain(1))).toEqual(at(9))
  })

  test('chains with a checkpoint are indexed', async ({ store }) => {
    expect(await store.transaction((tx) => tx.indexedChains())).toEqual([])
    await reach(store, 5, 9)
    await store.transaction((tx) => tx.setCheckpoint(2, at(4)))
    expect((await store.transaction((tx) => tx.indexedChains())).sort()).toEqual([1, 2])
  })

  test('setting a height again replaces its hash', async ({ store }) => {
    await reach(store, 5)
    await store.transaction((tx) => tx.setCheckpoint(1, { blockNumber: 5, blockHash: hash(0xf0) }))
    expect(await store.payments.checkpoint(1)).toEqual({ blockNumber: 5, blockHash: hash(0xf0) })
  })

  test('earlier checkpoints are listed newest first, at or below a height, up to a limit', async ({ store }) => {
    await reach(store, 10, 20, 30, 40)
    expect(await listed(store, 30, 10)).toEqual([30, 20, 10])
    expect(await listed(store, 29, 1)).toEqual([20])
    expect(await listed(store, 9, 10)).toEqual([])
  })

  test('a checkpoint that is moved down, as by a reorg, forgets the heights above it', async ({ store }) => {
    await reach(store, 10, 20, 30)
    await store.transaction((tx) => tx.setCheckpoint(2, at(30)))
    await store.transaction(async (tx) => {
      await tx.lockChain(1)
      await tx.setCheckpoint(1, at(20))
      expect((await tx.checkpoints(1, 100, 10)).map(({ blockNumber }) => blockNumber)).toEqual([20, 10])
    })
    expect(await store.payments.checkpoint(1)).toEqual(at(20))
    expect(await store.payments.checkpoint(2)).toEqual(at(30))
    await reach(store, 40)
    expect(await listed(store, 100, 10)).toEqual([40, 20, 10])
  })

  test('payments above a height leave the chain, keep their record, and return when indexed', async ({ store }) => {
    const heights = [20, 21, 30]
    for (const blockNumber of heights) await indexed(store, { txHash: hash(blockNumber), blockNumber })
    await indexed(store, { chainId: 2, txHash: hash(30), blockNumber: 30 })
    await nextVersion(store, facts({ txHash: hash(30) }))
    const stored = (chainId: number, n: number) => store.payments.transaction({ chainId, txHash: hash(n) })
    const before = await stored(1, 30)
    await store.transaction((tx) => tx.markOffChainAbove(1, 20))
    for (const n of heights) {
      const { payments } = await stored(1, n)
      expect(payments.map(({ offChain }) => offChain)).toEqual([n > 20])
    }
    expect((await stored(2, 30)).payments).toMatchObject([{ offChain: false }])
    expect((await stored(1, 30)).payments).toEqual(before.payments.map((payment) => ({ ...payment, offChain: true })))
    // In the very same block, and in another one.
    const again = [primary({ txHash: hash(21), blockNumber: 21 }), primary({ txHash: hash(30), blockNumber: 33 })]
    await store.transaction((tx) => tx.upsertPayments(again))
    expect((await stored(1, 21)).payments).toMatchObject([{ offChain: false, blockNumber: 21 }])
    expect((await stored(1, 30)).payments).toMatchObject([{ offChain: false, blockNumber: 33, version: 2 }])
  })

  test('the heights below a checkpoint are stored with it, and replace stored ones', async ({ store }) => {
    await reach(store, 4, 10)
    const other = (blockNumber: number) => ({ blockNumber, blockHash: hash(0xc000 + blockNumber) })
    await store.transaction((tx) => tx.setCheckpoint(1, at(14), [other(10), other(11), other(13)]))
    expect(await store.payments.checkpoint(1)).toEqual(at(14))
    const kept = await store.transaction((tx) => tx.checkpoints(1, 100, 10))
    expect(kept).toEqual([at(14), other(13), other(11), other(10), at(4)])
    await store.transaction((tx) => tx.setCheckpoint(1, at(12), [other(8)]))
    expect(await listed(store, 100, 10)).toEqual([12, 11, 10, 8, 4])
  })

  for (const step of [1, 97, 2_000])
    test(`heights below the dense ones are thinned out to one of each run, climbing by ${step}`, async ({ store }) => {
      const highest = step === 1 ? 6_000 : 30_000
      await climb(store, 0, highest, step)
      const found = await listed(store, highest, highest)
      const sparse = found.slice(denseHeights)
      expect(found.slice(0, denseHeights)).toEqual(Array.from({ length: denseHeights }, (_, n) => highest - n))
      const runs = Math.ceil((highest - denseHeights) / sparseStep)
      expect(sparse.length).toBeGreaterThanOrEqual(runs - 1)
      // Those that the last climb left behind wait for the next one.
      expect(sparse.length).toBeLessThanOrEqual(runs + step + 512)
      expect(sparse.filter((height) => height % sparseStep === sparseStep - 1)).toHaveLength(runs - 1)
    })

  test('heights far below the checkpoint are deleted', async ({ store }) => {
    await climb(store, 0, 10, 1)
    await store.transaction((tx) => tx.setCheckpoint(2, at(1)))
    for (const [height, kept] of [
      [maxStoredDepth + 9, 10],
      [maxStoredDepth + 1_024, maxStoredDepth + 9],
    ] as const) {
      await store.transaction((tx) => tx.setCheckpoint(1, at(height)))
      expect(await listed(store, 10_000_000, 10)).toEqual([height, kept])
    }
    expect(await store.payments.checkpoint(2)).toEqual(at(1))
  })

  test('a checkpoint that moves down and up again does not change thinned-out heights', async ({ store }) => {
    await climb(store, 0, 8_000, 50)
    await store.transaction((tx) => tx.setCheckpoint(1, at(7_900)))
    await climb(store, 7_900, 8_000, 1)
    const found = await listed(store, 8_000, denseHeights)
    expect(found).toEqual(Array.from({ length: denseHeights }, (_, n) => 8_000 - n))
  })

  test('heights that do not ascend to the checkpoint are rejected', async ({ store }) => {
    for (const below of [[at(10)], [at(11)], [at(5), at(4)], [at(4), at(4)], [at(-1)], [at(1.5)]]) {
      await expect(store.transaction((tx) => tx.setCheckpoint(1, at(10), below))).rejects.toThrow(RangeError)
      expect(await store.payments.checkpoint(1)).toBeNull()
    }
  })

  test('heights far apart are kept', async ({ store }) => {
    const heights = Array.from({ length: 50 }, (_, n) => 1 + n * 10_000)
    await reach(store, ...heights)
    expect(await listed(store, 1_000_000, 100)).toEqual(heights.reverse())
  })
}
