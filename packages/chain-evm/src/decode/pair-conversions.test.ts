/** Payments with conversions, of every router version, as a real chain holds them. */
import { encodeAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodedVersions } from '../../test/abis.js'
import * as conversion from '../../test/conversion-chain.js'
import { rewriting } from '../../test/front.js'
import { payingCall } from '../../test/router-logs.js'
import { payer, receiver } from '../../test/test-chain.js'
import { yodlDecoder } from './router-events.js'

const { chfUsd, convert, feedArgument, memo, payment, usdc, usdcUsd } = conversion
const chf = { contract: chfUsd, pair: { base: 'CHF', quote: 'USD' }, rate: 125_000_000n, decimals: 8 }
const chain = await conversion.openConversionChain()

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

describe('the logs of a node', () => {
  const without = (topics: readonly string[]) =>
    rewriting((item, { method }) => {
      if (method !== 'eth_getLogs') return item
      const logs = item.result as { topics: string[] }[]
      return { ...item, result: logs.filter(({ topics: [topic = ''] }) => !topics.includes(topic)) }
    })
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
    chain.front.intercept = without(topics)
    await expect(chain.read(height, '0.8', { proof: 'none' })).rejects.toMatchObject(unavailable)
  })

  test('are trusted when the receipt has no conversion either', async () => {
    const callArgs = { amount: 1_000n, priceFeeds: feedArgument('0.8', chfUsd, null) }
    const height = await chain.payDirectly('0.8', callArgs, payment('0.8', 1_000n))
    expect((await chain.read(height, '0.8', { proof: 'none' }))[0]?.pricing.feeds).toEqual([])
  })
})
