/** Tests: how far a chain is indexed. @module */
import { expect } from 'vitest'
import type { Store } from '../ports/store.js'
import { hash } from './fixtures.js'
import type { StoreTest } from './subject.js'

const at = (blockNumber: number) => ({ blockNumber, blockHash: hash(0xb000 + blockNumber) })

async function reach(store: Store, ...heights: number[]): Promise<void> {
  for (const height of heights)
    await store.transaction(async (tx) => {
      await tx.lockChain(1)
      await tx.setCheckpoint(1, at(height))
    })
}

const listed = (store: Store, atOrBelow: number, limit: number) =>
  store.transaction(async (tx) => (await tx.checkpoints(1, atOrBelow, limit)).map(({ blockNumber }) => blockNumber))

/** Registers the tests. */
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

  test('a checkpoint that is moved down, as by a reorganisation, forgets the heights above it', async ({ store }) => {
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

  test('a checkpoint may be moved to a height that was none', async ({ store }) => {
    await reach(store, 10, 20, 30, 15)
    expect(await store.payments.checkpoint(1)).toEqual(at(15))
    expect(await listed(store, 100, 10)).toEqual([15, 10])
  })

  test('at least the newest 1,000 checkpoints are kept', async ({ store }) => {
    await store.transaction(async (tx) => {
      for (let height = 1; height <= 1_005; height += 1) await tx.setCheckpoint(1, at(height))
    })
    const kept = await listed(store, 2_000, 1_000)
    expect(kept).toEqual(Array.from({ length: 1_000 }, (_, n) => 1_005 - n))
  })
}
