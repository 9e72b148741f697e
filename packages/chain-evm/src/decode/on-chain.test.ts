/** Payments, conversions, swaps and bundles of every router version, as a real chain holds them. */
import { type Address, concat, encodeAbiParameters, encodeFunctionData, type Hex, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodedVersions } from '../../test/abis.js'
import { bundle, type EntryPointVersion, type TestOperation } from '../../test/bundles.js'
import { forwarder, testEntryPoint, testRouter } from '../../test/contracts.generated.js'
import * as conversion from '../../test/conversion-chain.js'
import { noFeed, payingCall, transferLog } from '../../test/router-logs.js'
import { payer, receiver } from '../../test/test-chain.js'
import { encodeIntegrationSuffix } from './integrations.js'
import { yodlDecoder } from './router-events.js'

const { chfUsd, convert, emits, feedArgument, memo, payment, usdc, usdcUsd } = conversion
const chf = { contract: chfUsd, pair: { base: 'CHF', quote: 'USD' }, rate: 125_000_000n, decimals: 8 }
const chain = await conversion.openConversionChain()
const weth = await chain.node.fund('WETH', 18, chain.routerA, [payer, chain.wallet])
const paidToken = await chain.node.fund('USDC', 6, chain.routerA)
const entryPoint = await chain.node.deploy(testEntryPoint)
const alice = await chain.node.deploy(forwarder)
const bob = await chain.node.deploy(forwarder)

describe.each(decodedVersions)('a direct call to a router of version %s', (version) => {
  test('without feeds has no conversion, and the amount of the call', async () => {
    const priceFeeds = version === '0.1' ? [] : feedArgument(version, null, null)
    const callArgs = { amount: 1_000n, priceFeeds }
    const height = await chain.payDirectly(version, callArgs, payment(version, 1_000n, { fees: 2n }))
    const [paid] = await chain.read(height, version)
    const listedToken = { symbol: 'USDC', currency: 'USD' }
    expect(paid?.pricing).toEqual({ listedToken, feeds: [], calledAmount: 1_000n, serviceFee: 2n })
  })

  test('with feeds is multiplied by the first, then divided by the second', async () => {
    const second = version === '0.1' ? null : usdcUsd
    const callArgs = { amount: 1_001n, priceFeeds: feedArgument(version, chfUsd, second) }
    const converts =
      version === '0.2'
        ? [convert('0.2', chfUsd, null), convert('0.2', usdcUsd, null)]
        : [convert(version, chfUsd, second)]
    // 1001 * 1.25 is 1251 and a quarter, of which the quarter is lost before the division.
    const amount = second === null ? 1_251n : 2_502n
    const height = await chain.payDirectly(version, callArgs, ...converts, payment(version, amount))
    const [paid] = await chain.read(height, version)
    const divided = { ...chf, contract: usdcUsd, pair: { base: 'USDC', quote: 'USD' }, rate: 50_000_000n }
    const feeds = [{ use: 'multiply', ...chf }, ...(second === null ? [] : [{ use: 'divide', ...divided }])]
    expect(paid?.pricing).toMatchObject({ feeds, calledAmount: 1_001n })
  })
})

const pathWords = [{ type: 'address' }, { type: 'uint24' }, { type: 'address' }] as const

test('a direct swap call is priced by its output amount', async () => {
  const path = encodeAbiParameters(pathWords, [usdc, 3_000, receiver])
  const priceFeeds = feedArgument('0.8', chfUsd, null)
  const swap = { sender: receiver, receiver, memo, amountIn: 9_000n, amountOut: 1_000n, path, priceFeeds }
  const logs = [convert('0.8', chfUsd, null), payment('0.8', 1_250n, { sender: receiver })]
  const height = await chain.call(payingCall('0.8', 'yodlWithUniswap', swap), ...logs)
  const [paid] = await chain.read(height, '0.8')
  expect(paid?.pricing).toMatchObject({ feeds: [{ use: 'multiply', ...chf }], calledAmount: 1_000n })
  expect(paid).toMatchObject({ sender: payer, tokenIn: { address: receiver, amount: 9_000n } })
})

describe('the logs of a node', () => {
  const payWithConversion = () => {
    const callArgs = { amount: 1_000n, priceFeeds: feedArgument('0.8', chfUsd, null) }
    return chain.payDirectly('0.8', callArgs, convert('0.8', chfUsd, null), payment('0.8', 1_250n))
  }
  const unavailable = { code: 'ERR_CHAIN_UNAVAILABLE', message: expect.stringContaining('left out') }

  test('are read once, payments and conversions together', async () => {
    const height = await payWithConversion()
    const requests = await chain.front.during(() => chain.read(height, '0.8', { proof: 'none' }))
    expect(requests.flat().filter((method) => method === 'eth_getLogs')).toHaveLength(1)
  })

  test.each([
    ['they hold conversions and the payments of the block were left out', yodlDecoder.paymentTopics],
    ['the conversion of a call was left out', yodlDecoder.conversionTopics],
  ])('are rejected when %s', async (_, topics) => {
    const height = await payWithConversion()
    chain.front.lie('eth_getLogs', (logs: { topics: string[] }[]) =>
      logs.filter(({ topics: [topic = ''] }) => !topics.includes(topic)),
    )
    await expect(chain.read(height, '0.8', { proof: 'none' })).rejects.toMatchObject(unavailable)
  })

  test('are trusted when the receipt has no conversion either', async () => {
    const callArgs = { amount: 1_000n, priceFeeds: feedArgument('0.8', chfUsd, null) }
    const height = await chain.payDirectly('0.8', callArgs, payment('0.8', 1_000n))
    expect((await chain.read(height, '0.8', { proof: 'none' }))[0]?.pricing.feeds).toEqual([])
  })
})

const signer: Address = '0x00000000000000000000000000000000000000a1'
const swapCall = payingCall('0.8', 'yodlWithUniswap', {
  ...{ sender: signer, receiver, memo, amountIn: 1_000n, amountOut: 900n, priceFeeds: [noFeed, noFeed] },
  path: encodeAbiParameters(pathWords, [paidToken, 3_000, weth]),
})

/** Sets the next swap calls: the router takes, gives back, and reports a payment of 900 units of USDC. */
async function plan(take: bigint, giveBack: bigint, giveTo: Address, withMemo = memo) {
  const swap = { token: weth, take, giveBack, giveTo }
  await chain.node.call(testRouter, chain.routerA, 'plan', [signer, receiver, paidToken, 900n, withMemo, swap])
}

async function readSwap(height: number) {
  const before = chain.front.requests.length
  const [paid] = await chain.read(height, '0.8', { proof: 'none' })
  const methods = chain.front.requests.slice(before).flat()
  const receipts = methods.filter((method) => method === 'eth_getTransactionReceipt').length
  return { receipts, sender: paid?.sender, tokenIn: paid?.tokenIn, tokenOut: paid?.tokenOut }
}

const directIn = { address: paidToken, symbol: 'USDC', decimals: 6, amount: 900n }

const refunds = Object.entries({ 'to the signer': payer, 'to the sender that the payment names': signer })
test.each(refunds)('tokenIn of a direct swap is the transferred amount minus that returned %s', async (_, giveTo) => {
  await plan(1_000n, 130n, giveTo)
  const { blockNumber } = await chain.node.execute({ to: chain.routerA, data: swapCall })
  const { sender, tokenIn, tokenOut, receipts } = await readSwap(blockNumber)
  expect(sender).toBe(payer) // the signer, and not whom the call names
  expect(tokenIn).toEqual({ address: weth, symbol: 'WETH', decimals: 18, amount: 870n })
  expect(tokenOut).toMatchObject({ address: paidToken, gross: 900n })
  expect(receipts).toBe(1)
})

describe('token in is the token that was paid', () => {
  test('when the event does not repeat the arguments of the call', async () => {
    await plan(1_000n, 0n, payer, pad('0x02', { size: 32 }))
    const { blockNumber } = await chain.node.execute({ to: chain.routerA, data: swapCall })
    expect((await readSwap(blockNumber)).tokenIn).toEqual(directIn)
  })

  test('when another contract made the call', async () => {
    await plan(0n, 0n, payer)
    const { blockNumber } = await chain.node.call(forwarder, chain.wallet, 'forward', [chain.routerA, swapCall])
    expect(await readSwap(blockNumber)).toMatchObject({ tokenIn: directIn, sender: signer, receipts: 0 })
  })
})

describe('nothing is indexed', () => {
  test('of conversions that no payment follows, and their transaction is not read', async () => {
    const { blockNumber } = await chain.node.execute({ to: chain.routerA, data: emits(convert('0.8', chfUsd, null)) })
    const requests = await chain.front.during(async () => expect(await chain.read(blockNumber, '0.8')).toEqual([]))
    expect(requests.flat()).not.toContain('eth_getTransactionByHash')
    expect(chain.quarantined).toEqual([])
  })

  test('of the topics of a router by another contract', async () => {
    for (const version of ['0.1', '0.8']) {
      const { blockNumber } = await chain.node.execute({
        to: chain.routerB,
        data: emits(convert(version, chfUsd, null), payment(version, 1n)),
      })
      expect(await chain.read(blockNumber, version)).toEqual([])
      expect(chain.quarantined).toEqual([])
    }
  })

  test('of transfers that a listed router was made to do, as in the exploit of August 2024', async () => {
    const transfer = (from: Address, to: Address) => transferLog(from, to, 10_000n)
    const { routerA, routerB } = chain
    const approval = transferLog(payer, routerA, 0n, 'Approval')
    const moves = [transfer(payer, receiver), approval, transfer(payer, routerA), transfer(routerA, receiver)]
    const { blockNumber } = await chain.batch([routerB, emits(...moves)], [routerA, emits(transfer(payer, receiver))])
    expect(await chain.read(blockNumber, '0.5')).toEqual([])
    expect(chain.quarantined).toEqual([])
  })
})

test('a conversion that is malformed is reported, and its payment is kept without it', async () => {
  const broken = { ...convert('0.5', chfUsd, null), data: '0x' as Hex }
  const { blockNumber } = await chain.node.execute({ to: chain.routerA, data: emits(broken, payment('0.5', 7n)) })
  const [paid] = await chain.read(blockNumber, '0.5')
  expect(paid).toMatchObject({ ordinal: 0, tokenOut: { gross: 7n }, pricing: { feeds: [] } })
  expect(chain.quarantined.map(({ reason }) => reason)).toEqual(['expected 64 bytes of data, got 0'])
})

const [shop, cafe, bundler]: Address[] = ['0a', '0b', '0c'].map((byte): Address => `0x${byte.repeat(20)}`)
const suffixed = (data: Hex, who: Address | undefined): Hex =>
  who === undefined ? data : concat([data, encodeIntegrationSuffix(who)])
/** An operation whose account makes the router report payments of these amounts. */
function pays(account: Address, who: Address | undefined, ...amounts: bigint[]): TestOperation {
  const data = emits(...amounts.map((amount) => payment('0.6', amount, { sender: account })))
  const args = [chain.routerA, data] as const
  return {
    sender: account,
    callData: suffixed(encodeFunctionData({ abi: forwarder.abi, functionName: 'forward', args }), who),
  }
}

test.each<EntryPointVersion>(['0.6', '0.7'])(
  'a bundle of EntryPoint %s gives each payment the integration of its own operation, and skips a reverted one',
  async (version) => {
    const reverts = { sender: alice, callData: '0x12345678' as Hex }
    const operations = [pays(alice, shop, 10n, 11n), pays(bob, cafe, 12n), pays(alice, undefined, 13n)]
    const data = suffixed(bundle(version, [reverts, ...operations]), bundler)
    const { blockNumber } = await chain.node.execute({ to: entryPoint, data })
    const payments = await chain.read(blockNumber, '0.6')
    expect(payments.map(({ tokenOut, integrationAddress }) => [tokenOut.gross, integrationAddress])).toEqual([
      [10n, shop],
      [11n, shop],
      [12n, cafe],
      [13n, null],
    ])
  },
)
