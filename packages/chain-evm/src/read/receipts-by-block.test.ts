import { ChainError } from '@payment-integration/core'
import { expect, test } from 'vitest'
import type { Rpc } from '../rpc/json-rpc.js'
import { admitReadByBlock, runByBlock } from './block-receipts.js'

const away = () => Promise.reject(new ChainError('ERR_CHAIN_UNAVAILABLE', 1, 'no answer'))
const here = () => Promise.resolve()

/** Reads single blocks, repeating those that fail by block. Resolves the number of failures. */
async function failuresOver(heights: number, isHeavy: (height: number) => boolean): Promise<number> {
  const rpc = {} as Rpc
  let failures = 0
  for (let height = 0; height < heights; ) {
    const was = admitReadByBlock(rpc, 1)
      ? await runByBlock(rpc, 1, isHeavy(height) ? away : here).then(
          () => true,
          () => false,
        )
      : true
    if (was) height += 1
    else failures += 1
  }
  return failures
}

test('every block is read, although one in twenty or all fail by block, ever more rarely', async () => {
  expect(await failuresOver(1_000, (height) => height % 20 === 7)).toBeLessThan(15)
  expect(await failuresOver(5_000, () => true)).toBeLessThan(20)
})

test('rare random failures change nothing', async () => {
  const rpc = {} as Rpc
  for (let round = 0; round < 10; round += 1) {
    for (const ask of [away, away, here]) await runByBlock(rpc, 1, ask).catch(() => {})
    expect(admitReadByBlock(rpc, 1)).toBe(true)
  }
})

test('failures and successes of several blocks at once do not count for single blocks', async () => {
  const rpc = {} as Rpc
  for (let round = 0; round < 10; round += 1) await runByBlock(rpc, 8, away).catch(() => {})
  expect(admitReadByBlock(rpc, 1)).toBe(true)
  for (let round = 0; round < 3; round += 1) {
    await runByBlock(rpc, 1, away).catch(() => {})
    await runByBlock(rpc, 8, here)
  }
  expect(admitReadByBlock(rpc, 1)).toBe(false)
})
