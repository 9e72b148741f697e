/** A token contract whose calls revert with very long reasons, paid through the router. @module */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { measureGrowth } from '../../../../tools/scripts/growth.js'
import { oddToken, talkativeToken, testRouter } from '../../test/contracts.generated.js'
import { readAll } from '../../test/read-all.js'
import { startTestChain, type TestChain } from '../../test/test-chain.js'
import { createEvmChain } from '../evm-chain.js'

const receiver = '0x00000000000000000000000000000000000000b2'

let node: TestChain
let router: string
beforeAll(async () => {
  node = await startTestChain()
  router = await node.deploy(testRouter)
})
afterAll(async () => {
  await node?.stop()
})

const open = () =>
  createEvmChain({ chainId: 31337, rpcUrl: node.rpcUrl, routers: [{ address: router, version: '0.8' }] })
async function payIn(token: string) {
  return (await node.call(testRouter, router, 'emitMany', [1n, receiver, token, 5n, false])).blockNumber
}

test('a payment in a token that reverts with 60,000 or a million characters is read, and the next one too', async () => {
  const tokens = [await node.deploy(talkativeToken, [60_000n]), await node.deploy(talkativeToken, [1_000_000n])]
  const heights = [await payIn(tokens[0] ?? ''), await payIn(tokens[1] ?? '')]
  const honest = await payIn(await node.deploy(oddToken, ['0x', `0x${'6'.padStart(64, '0')}`]))
  const { payments } = await readAll(open(), heights[0] ?? 0, honest)
  expect(payments.map(({ tokenOut: { symbol, decimals } }) => ({ symbol, decimals }))).toEqual([
    { symbol: null, decimals: 0 },
    { symbol: null, decimals: 0 },
    { symbol: null, decimals: 6 },
  ])
})

test("processor time grows no faster than the reason of a token's revert", async () => {
  const growth = await measureGrowth(async (length) => {
    const height = await payIn(await node.deploy(talkativeToken, [BigInt(length)]))
    return () => readAll(open(), height, height)
  })
  expect(growth).toBeNull()
})
