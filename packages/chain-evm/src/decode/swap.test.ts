import { type Address, encodeAbiParameters, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { forwarder, testRouter } from '../../test/contracts.generated.js'
import { useFront } from '../../test/front.js'
import { readAll } from '../../test/read-all.js'
import { noFeed, payingCall } from '../../test/router-logs.js'
import { payer, receiver, useTestChain } from '../../test/test-chain.js'
import { createEvmChain } from '../evm-chain.js'

const signer: Address = '0x00000000000000000000000000000000000000a1'
const memo = pad('0x01', { size: 32 })
const other = pad('0x02', { size: 32 })

const node = await useTestChain()
const front = await useFront(node.rpcUrl)
const router = await node.deploy(testRouter)
const wallet = await node.deploy(forwarder)
const weth = await node.fund('WETH', 18, router, [payer, wallet])
const usdc = await node.fund('USDC', 6, router)
const routers = [{ address: router, version: '0.8' }]

const words = [{ type: 'address' }, { type: 'uint24' }, { type: 'address' }] as const
const swapCall = payingCall('0.8', 'yodlWithUniswap', {
  ...{ sender: signer, receiver, memo, amountIn: 1_000n, amountOut: 900n, priceFeeds: [noFeed, noFeed] },
  path: encodeAbiParameters(words, [usdc, 3_000, weth]),
})

/** Sets the next swap calls: the router takes, gives back, and reports a payment of 900 units of USDC. */
async function plan(take: bigint, giveBack: bigint, giveTo: Address, withMemo = memo) {
  const swap = { token: weth, take, giveBack, giveTo }
  await node.call(testRouter, router, 'plan', [signer, receiver, usdc, 900n, withMemo, swap])
}

async function read(height: number) {
  const before = front.requests.length
  const chain = createEvmChain({ chainId: 31337, rpcUrl: front.url, routers, proof: 'none', requestTimeoutMs: 600_000 })
  const [payment] = (await readAll(chain, height, height)).payments
  const methods = front.requests.slice(before).flat()
  const receipts = methods.filter((method) => method === 'eth_getTransactionReceipt').length
  return { receipts, sender: payment?.sender, tokenIn: payment?.tokenIn, tokenOut: payment?.tokenOut }
}

const directIn = { address: usdc, symbol: 'USDC', decimals: 6, amount: 900n }

describe('a direct swap call', () => {
  test.each([
    ['to the signer', payer],
    ['to the sender that the payment names', signer],
  ] as const)('token in is what moved, less what came back %s', async (_, giveTo) => {
    await plan(1_000n, 130n, giveTo)
    const { blockNumber } = await node.execute({ to: router, data: swapCall })
    const { sender, tokenIn, tokenOut, receipts } = await read(blockNumber)
    expect(sender).toBe(payer) // the signer, and not whom the call names
    expect(tokenIn).toEqual({ address: weth, symbol: 'WETH', decimals: 18, amount: 870n })
    expect(tokenOut).toMatchObject({ address: usdc, gross: 900n })
    expect(receipts).toBe(1)
  })
})

describe('token in is the token that was paid', () => {
  test('when the event does not repeat the arguments of the call', async () => {
    await plan(1_000n, 0n, payer, other)
    const { blockNumber } = await node.execute({ to: router, data: swapCall })
    expect((await read(blockNumber)).tokenIn).toEqual(directIn)
  })

  test('when another contract made the call', async () => {
    await plan(0n, 0n, payer)
    const { blockNumber } = await node.call(forwarder, wallet, 'forward', [router, swapCall])
    expect(await read(blockNumber)).toMatchObject({ tokenIn: directIn, sender: signer, receipts: 0 })
  })
})
