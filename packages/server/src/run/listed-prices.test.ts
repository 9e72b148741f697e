import * as known from '@payment-integration/chain-evm'
import { expect, it } from 'vitest'
import { readConfig } from '../config/read-config.js'
import { listPriceOverrides, mergeKnown } from './open-chain.js'

const token = `0x${'12'.repeat(20)}`

it('a chain may override a known token and price feed, and only overrides are reported', () => {
  const usdc = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
  const dai = '0x6b175474e89094c44da98b954eedeac495271d0f'
  const feed = known.knownPriceFeeds(1)[0] ?? expect.fail('a price feed of chain 1 is known')
  const { address, base, quote, decimals } = feed
  const { chains } = readConfig({
    PI_MASTER_KEY: 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90',
    PI_RPC_URL_1: 'http://node.example',
    PI_TOKENS_1: `${usdc.toUpperCase().replace('X', 'x')}:USDC:EUR,${dai}:DAI:USD,${token}:MINE:USD`,
    PI_PRICE_FEEDS_1: `${address}:${base}:${quote}:${decimals + 1},${token}:CHF:USD:8`,
  })
  const [chain] = chains
  if (chain === undefined) return expect.unreachable('chain 1 is configured')
  const of = (entries: readonly { address: string }[], wanted: string) =>
    entries.filter((each) => each.address === wanted)
  const tokens = mergeKnown(known.knownTokens(1), chain.tokens)
  const priceFeeds = mergeKnown(known.knownPriceFeeds(1), chain.priceFeeds)
  expect(of(tokens, usdc)).toEqual([{ address: usdc, symbol: 'USDC', currency: 'EUR' }])
  expect(of(priceFeeds, address)).toEqual([{ ...feed, decimals: decimals + 1 }])
  expect(tokens).toHaveLength(known.knownTokens(1).length + 1)
  expect(priceFeeds).toHaveLength(known.knownPriceFeeds(1).length + 1)
  const pair = `${base}:${quote}`
  expect(listPriceOverrides(known, chains)).toEqual([
    { chainId: 1, kind: 'token', address: usdc, known: 'USDC:USD', configured: 'USDC:EUR' },
    {
      ...{ chainId: 1, kind: 'price feed', address },
      ...{ known: `${pair}:${decimals}`, configured: `${pair}:${decimals + 1}` },
    },
  ])
})
