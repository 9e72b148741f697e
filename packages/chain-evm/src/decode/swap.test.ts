import { type AbiFunction, type Address, encodeAbiParameters, encodeFunctionData, type Hex, pad } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routerFunctions } from '../../test/abis.js'
import { forwarder, testRouter } from '../../test/contracts.generated.js'
import { type Front, openFront } from '../../test/front.js'
import { readAll } from '../../test/read-all.js'
import { payer, startTestChain, type TestChain } from '../../test/test-chain.js'
import { devToken } from '../dev/contracts.generated.js'
import { createEvmChain } from '../evm-chain.js'

const receiver: Address = '0x00000000000000000000000000000000000000b2'
const signer: Address = '0x00000000000000000000000000000000000000a1'
const memo = pad('0x01', { size: 32 })
const other = pad('0x02', { size: 32 })

let node: TestChain
let front: Front
let router: Address
let weth: Address
let usdc: Address

beforeAll(async () => {
  node = await startTestChain()
  front = await openFront(node.rpcUrl)
  router = await node.deploy(testRouter)
  weth = await node.deploy(devToken, ['WETH', 18])
  usdc = await node.deploy(devToken, ['USDC', 6])
  await node.call(devToken, weth, 'mint', [payer, 10n ** 20n])
  await node.call(devToken, weth, 'approve', [router, 10n ** 20n])
})
afterAll(async () => {
  await front?.close()
  await node?.stop()
})

const noFeed = { feedAddress: receiver, feedType: 0, currency: '', amount: 0n, deadline: 0n, signature: '0x' as Hex }

function uniswapCall(tokenIn: Address, changes: object = {}): Hex {
  const [item] = routerFunctions('0.8').filter(({ name }) => name === 'yodlWithUniswap')
  const words = [{ type: 'address' }, { type: 'uint24' }, { type: 'address' }] as const
  const params = {
    sender: signer,
    receiver,
    amountIn: 1_000n,
    amountOut: 900n,
    memo,
    path: encodeAbiParameters(words, [usdc, 3_000, tokenIn]),
    priceFeeds: [noFeed, noFeed],
    extraFeeReceiver: receiver,
    extraFeeBps: 0n,
    swapType: 0,
    yd: 0n,
    guards: [],
    webhooks: [],
    ...changes,
  }
  return encodeFunctionData({ abi: [item as AbiFunction], args: [params] })
}

/** Sets the next swap calls: the router takes, gives back, and reports a payment of 900 units of USDC. */
async function plan(
  take: bigint,
  giveBack: bigint,
  giveTo: Address,
  reported: Partial<{ memo: Hex; tokenOut: Address }> = {},
) {
  const args = [
    signer,
    receiver,
    reported.tokenOut ?? usdc,
    900n,
    reported.memo ?? memo,
    { token: weth, take, giveBack, giveTo },
  ]
  await node.call(testRouter, router, 'plan', args)
}

async function read(height: number) {
  const routers = [{ address: router, version: '0.8' }]
  const before = front.requests.length
  const { payments } = await readAll(
    createEvmChain({ chainId: 31337, rpcUrl: front.url, routers, proof: 'none' }),
    height,
    height,
  )
  const receipts = front.requests
    .slice(before)
    .flat()
    .filter((method) => method === 'eth_getTransactionReceipt').length
  const [payment] = payments
  return { payments, receipts, sender: payment?.sender, tokenIn: payment?.tokenIn, tokenOut: payment?.tokenOut }
}

const directIn = { symbol: 'USDC', decimals: 6, amount: 900n }

describe('a direct swap call', () => {
  test.each([
    ['to the signer', payer],
    ['to the sender that the payment names', signer],
  ] as const)('token in is what moved, less what came back %s', async (_, giveTo) => {
    await plan(1_000n, 130n, giveTo)
    const { blockNumber } = await node.execute({ to: router, data: uniswapCall(weth) })
    const { sender, tokenIn, tokenOut, receipts } = await read(blockNumber)
    expect(sender).toBe(payer) // the signer, and not whom the call names
    expect(tokenIn).toEqual({ address: weth, symbol: 'WETH', decimals: 18, amount: 870n })
    expect(tokenOut).toMatchObject({ address: usdc, gross: 900n })
    expect(receipts).toBe(1)
  })
})

describe('token in is the token that was paid', () => {
  test('when the event does not repeat the arguments of the call', async () => {
    await plan(1_000n, 0n, payer, { memo: other })
    const { blockNumber } = await node.execute({ to: router, data: uniswapCall(weth) })
    expect((await read(blockNumber)).tokenIn).toEqual({ address: usdc, ...directIn })
  })

  test('when another contract made the call', async () => {
    const wallet = await node.deploy(forwarder)
    await node.call(devToken, weth, 'mint', [wallet, 10n ** 20n])
    await plan(0n, 0n, payer)
    const args = [router, uniswapCall(weth)] as const
    const { blockNumber } = await node.call(forwarder, wallet, 'forward', args)
    const { tokenIn, sender, receipts } = await read(blockNumber)
    expect(tokenIn).toEqual({ address: usdc, ...directIn })
    expect(sender).toBe(signer)
    expect(receipts).toBe(0)
  })

  test('if the call is not a swap', async () => {
    await plan(0n, 0n, payer)
    const { blockNumber } = await node.execute({ to: router, data: '0xd33dda5c' })
    const { tokenIn, receipts } = await read(blockNumber)
    expect(tokenIn).toEqual({ address: usdc, ...directIn })
    expect(receipts).toBe(0)
  })
})
