import { expect, test } from 'vitest'
import { fakeChain } from '../../test/support/fake-chain.js'
import { openStore } from '../../test/support/store.js'
import { storeStart } from './reorganize.js'

/** A chain of `height` blocks and an empty store. */
function setUp(height: number) {
  const chain = fakeChain()
  chain.mine(height)
  const store = openStore()
  const at = (number: number) => ({ blockNumber: number, blockHash: chain.at(number).hash })
  const stored = () => store.transaction((tx) => tx.checkpoints(1, Number.MAX_SAFE_INTEGER, 10))
  return { chain, store, at, stored }
}

test.each([
  [1, [0]],
  [2, [1, 0]],
  [65, [64, 0]],
  [66, [65, 1]],
  [100, [99, 35]],
])('a start at block %d stores the blocks %j', async (start, heights) => {
  const { chain, store, at, stored } = setUp(100)
  expect(await storeStart({ chain, store }, start)).toEqual(at(start - 1))
  expect(await store.payments.checkpoint(1)).toEqual(at(start - 1))
  expect(await stored()).toEqual(heights.map(at))
})

test('a start that another indexer stored first is not changed', async () => {
  const { chain, store, at, stored } = setUp(100)
  await storeStart({ chain, store }, 50)
  await expect(storeStart({ chain, store }, 90)).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_MOVED', chainId: 1 })
  expect(await store.payments.checkpoint(1)).toEqual(at(49))
  expect(await stored()).toEqual([at(49), at(0)])
})

test('nothing is stored when the node lacks a block or the signal aborts', async () => {
  const { chain, store } = setUp(10)
  await expect(storeStart({ chain, store }, 20)).rejects.toMatchObject({ code: 'ERR_CHAIN_UNAVAILABLE' })
  await expect(storeStart({ chain, store }, 5, AbortSignal.abort())).rejects.toThrow('abort')
  expect(await store.payments.checkpoint(1)).toBeNull()
})
