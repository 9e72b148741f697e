/** Payments with conversions, of every router version, as a real chain holds them. */
import { encodeAbiParameters } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { decodedVersions } from '../../test/abis.js'
import {
  type ConversionChain,
  chfUsd,
  convert,
  emits,
  eurUsd,
  feedArgument,
  memo,
  openConversionChain,
  payment,
  receiver,
  usdc,
  usdcUsd,
} from '../../test/conversion-chain.js'
import { passOn, rewriting } from '../../test/front.js'
import { eventLog, noFeed, payingCall, signedRate, zeroAddress } from '../../test/router-logs.js'
import { payer } from '../../test/test-chain.js'
import { yodlDecoder } from './router-events.js'

const chf = { contract: chfUsd, pair: { base: 'CHF', quote: 'USD' }, rate: 125_000_000n, decimals: 8 }

let chain: ConversionChain

beforeAll(async () => {
  chain = await openConversionChain()
})
afterAll(() => chain?.close())
afterEach(() => {
  chain.front.intercept = passOn
})

describe.each(decodedVersions)('a direct call to a router of version %s', (version) => {
  test('without feeds has no conversion, and the amount of the call', async () => {
    const priceFeeds = version === '0.1' ? [] : feedArgument(version, null, null)
    const height = await chain.payDirectly(
      version,
      { amount: 1_000n, priceFeeds },
      payment(version, 1_000n, { fees: 2n }),
    )
    const [paid] = await chain.read(height, version)
    expect(paid?.pricing).toEqual({
      listedToken: { symbol: 'USDC', currency: 'USD' },
      feeds: [],
      calledAmount: 1_000n,
      serviceFee: 2n,
    })
  })

  test('with the first feed is multiplied by it', async () => {
    const given = { amount: 1_000n, priceFeeds: feedArgument(version, chfUsd, null) }
    const height = await chain.payDirectly(version, given, convert(version, chfUsd, null), payment(version, 1_250n))
    const [paid] = await chain.read(height, version)
    expect(paid?.pricing).toMatchObject({ feeds: [{ use: 'multiply', ...chf }], calledAmount: 1_000n })
  })
})

describe.each(decodedVersions.filter((version) => version !== '0.1'))('a call to version %s', (version) => {
  test('with both is multiplied, then divided', async () => {
    const given = { amount: 1_001n, priceFeeds: feedArgument(version, chfUsd, usdcUsd) }
    // 1001 * 1.25 is 1251 and a quarter, of which the quarter is lost before the division.
    const converts =
      version === '0.2'
        ? [convert('0.2', chfUsd, null), convert('0.2', usdcUsd, null)]
        : [convert(version, chfUsd, usdcUsd)]
    const height = await chain.payDirectly(version, given, ...converts, payment(version, 2_502n))
    const [paid] = await chain.read(height, version)
    expect(paid?.pricing.feeds.map(({ use, contract }) => [use, contract])).toEqual([
      ['multiply', chfUsd],
      ['divide', usdcUsd],
    ])
    expect(paid?.pricing.calledAmount).toBe(1_001n)
  })
})

test.each(['0.6', '0.7', '0.8', '0.9'])(
  'a signed rate of version %s is of the currency of its hash',
  async (version) => {
    const rate = 125n * 10n ** 16n
    const args = { currency0: 'CHF', priceFeed1: zeroAddress, exchangeRate0: rate, exchangeRate1: 0n }
    const logs = [eventLog(version, 'ConvertWithExternalRate', args), payment(version, 1_250n)]
    const given = { amount: 1_000n, priceFeeds: [signedRate('CHF', rate), noFeed] }
    const height = await chain.payDirectly(version, given, ...logs)
    expect((await chain.read(height, version))[0]?.pricing).toMatchObject({
      feeds: [{ use: 'multiply', contract: null, pair: { base: 'CHF', quote: 'USD' }, rate, decimals: 18 }],
      calledAmount: 1_000n,
    })
  },
)

test('native payments have the price of the native token', async () => {
  const token = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
  const net = eventLog('0.8', 'YodlNativeTokenTransfer', { sender: payer, receiver, amount: 998n })
  const given = { amount: 1_000n, token, priceFeeds: [noFeed, noFeed] }
  const height = await chain.payDirectly('0.8', given, net, payment('0.8', 1_000n, { token, fees: 2n }))
  const [paid] = await chain.read(height, '0.8')
  expect(paid?.tokenOut).toMatchObject({ symbol: 'ETH', gross: 1_000n, net: 998n })
  expect(paid?.pricing).toMatchObject({ listedToken: { symbol: 'ETH', currency: 'ETH' }, calledAmount: 1_000n })
})

test('a direct swap call is priced by its output amount', async () => {
  const words = [{ type: 'address' }, { type: 'uint24' }, { type: 'address' }] as const
  const path = encodeAbiParameters(words, [usdc, 3_000, receiver])
  const priceFeeds = feedArgument('0.8', chfUsd, null)
  const swap = { sender: receiver, receiver, memo, amountIn: 9_000n, amountOut: 1_000n, path, priceFeeds }
  const logs = [convert('0.8', chfUsd, null), payment('0.8', 1_250n, { sender: receiver })]
  const height = await chain.call(payingCall('0.8', 'yodlWithUniswap', swap), ...logs)
  const [paid] = await chain.read(height, '0.8')
  expect(paid?.pricing).toMatchObject({ feeds: [{ use: 'multiply', ...chf }], calledAmount: 1_000n })
  expect(paid).toMatchObject({ sender: payer, tokenIn: { address: receiver, amount: 9_000n } })
})

describe('several payments in one transaction', () => {
  const twoWith = (version: string) =>
    chain.batch(
      [chain.routerA, emits(convert(version, chfUsd, null), payment(version, 1n))],
      [chain.routerA, emits(convert(version, eurUsd, null), payment(version, 2n))],
      [chain.routerA, emits(payment(version, 3n))],
    )
  const getPairs = (payments: Awaited<ReturnType<ConversionChain['read']>>) =>
    payments.map(({ tokenOut, pricing }) => [tokenOut.gross, ...pricing.feeds.map(({ pair }) => pair?.base ?? null)])

  test('each have their own conversion, where only a payment emits one', async () => {
    const { blockNumber } = await twoWith('0.5')
    expect(getPairs(await chain.read(blockNumber, '0.5'))).toEqual([[1n, 'CHF'], [2n, 'EUR'], [3n]])
  })

  test('each have their own, without a meaning, where anybody can emit one', async () => {
    const { blockNumber } = await twoWith('0.8')
    const payments = await chain.read(blockNumber, '0.8')
    expect(getPairs(payments)).toEqual([[1n, null], [2n, null], [3n]])
    expect(payments.map(({ pricing }) => pricing.feeds[0]?.contract)).toEqual([chfUsd, eurUsd, undefined])
    expect(payments.map(({ pricing }) => pricing.feeds[0]?.rate)).toEqual([125_000_000n, 200_000_000n, undefined])
  })
})

describe('the logs of a node', () => {
  const without = (topics: readonly string[]) =>
    rewriting((item, { method }) => {
      if (method !== 'eth_getLogs') return item
      const logs = item.result as { topics: string[] }[]
      return { ...item, result: logs.filter(({ topics: [topic = ''] }) => !topics.includes(topic)) }
    })
  const payWithConversion = () => {
    const given = { amount: 1_000n, priceFeeds: feedArgument('0.8', chfUsd, null) }
    return chain.payDirectly('0.8', given, convert('0.8', chfUsd, null), payment('0.8', 1_250n))
  }
  const unavailable = { code: 'ERR_CHAIN_UNAVAILABLE', message: expect.stringContaining('left out') }

  test('are read once, payments and conversions together', async () => {
    const height = await payWithConversion()
    const before = chain.front.requests.length
    await chain.read(height, '0.8', undefined, { proof: 'none' })
    expect(
      chain.front.requests
        .slice(before)
        .flat()
        .filter((method) => method === 'eth_getLogs'),
    ).toHaveLength(1)
  })

  test('are rejected when they hold conversions and the payments of the block were left out', async () => {
    const height = await payWithConversion()
    chain.front.intercept = without(yodlDecoder.paymentTopics)
    await expect(chain.read(height, '0.8', undefined, { proof: 'none' })).rejects.toMatchObject(unavailable)
  })

  test('are rejected when the conversion of a call was left out', async () => {
    const height = await payWithConversion()
    chain.front.intercept = without(yodlDecoder.conversionTopics)
    await expect(chain.read(height, '0.8', undefined, { proof: 'none' })).rejects.toMatchObject(unavailable)
  })

  test('are trusted when the receipt has no conversion either', async () => {
    const given = { amount: 1_000n, priceFeeds: feedArgument('0.8', chfUsd, null) }
    const height = await chain.payDirectly('0.8', given, payment('0.8', 1_000n))
    expect((await chain.read(height, '0.8', undefined, { proof: 'none' }))[0]?.pricing.feeds).toEqual([])
  })
})
