import type { Store } from '@payment-integration/core/ports'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { type OpenEngine, openSqlite } from '../../test/support/engines.js'
import { createStore } from '../create-store.js'
import { denseHeights, oldestHeights, sparseStep } from './checkpoints.js'

const { hash } = fixtures
const at = (blockNumber: number) => ({ blockNumber, blockHash: hash(blockNumber) })

let open: OpenEngine
let store: Store
beforeEach(async () => {
  open = await openSqlite()
  store = createStore(open.engine)
  await store.migrate()
})
afterEach(() => open.close())

const heights = (limit = 10_000_000) =>
  store.transaction(async (tx) => (await tx.checkpoints(1, limit, 1_000_000)).map(({ blockNumber }) => blockNumber))

/** Climbs by as much as `step` says, with every height in between. */
async function climb(from: number, to: number, step: () => number): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.lockChain(1)
    for (let last = from; last < to; ) {
      const next = Math.min(last + step(), to)
      const below = Array.from({ length: next - last - 1 }, (_, n) => at(last + 1 + n))
      await tx.setCheckpoint(1, at(next), below)
      last = next
    }
  })
}

test.each([[1], [97], [511], [512], [2_000]])(
  'heights below the dense ones are thinned out to one of each run, climbing by %d',
  async (step) => {
    const highest = step === 1 ? 6_000 : 30_000
    await climb(0, highest, () => step)
    const found = await heights()
    const dense = found.filter((height) => height > highest - denseHeights)
    expect(dense).toHaveLength(denseHeights)
    const sparse = found.filter((height) => height <= highest - denseHeights)
    const runs = Math.ceil((highest - denseHeights) / sparseStep)
    expect(sparse.length).toBeGreaterThanOrEqual(runs - 1)
    // Those that the last climb left behind wait for the next one.
    expect(sparse.length).toBeLessThanOrEqual(runs + step + 512)
    expect(sparse.filter((height) => height % sparseStep === sparseStep - 1)).toHaveLength(runs - 1)
  },
)

test('heights far below the checkpoint are deleted', async () => {
  await climb(0, 10, () => 1)
  await store.transaction((tx) => tx.setCheckpoint(2, at(1)))
  await store.transaction((tx) => tx.setCheckpoint(1, at(oldestHeights + 9)))
  expect(await heights()).toEqual([oldestHeights + 9, 10])
  await store.transaction((tx) => tx.setCheckpoint(1, at(oldestHeights + 1_024)))
  expect(await heights()).toEqual([oldestHeights + 1_024, oldestHeights + 9])
  expect(await store.payments.checkpoint(2)).toEqual(at(1))
})

test('a checkpoint that moves down and up again does not change thinned-out heights', async () => {
  await climb(0, 8_000, () => 50)
  await store.transaction((tx) => tx.setCheckpoint(1, at(7_900)))
  await climb(7_900, 8_000, () => 1)
  const found = await heights()
  expect(found.slice(0, denseHeights)).toEqual(Array.from({ length: denseHeights }, (_, n) => 8_000 - n))
})

test('heights that do not ascend to the checkpoint are rejected', async () => {
  for (const below of [[at(10)], [at(11)], [at(5), at(4)], [at(4), at(4)], [at(-1)], [at(1.5)]]) {
    await expect(store.transaction((tx) => tx.setCheckpoint(1, at(10), below))).rejects.toThrow(RangeError)
    expect(await store.payments.checkpoint(1)).toBeNull()
  }
})
