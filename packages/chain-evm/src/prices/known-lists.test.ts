import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseVerifyRequest } from '@payment-integration/core'
import { describe, expect, test } from 'vitest'
import { chainsWithRouters, knownRouters } from '../decode/known-routers.js'
import { getNativeToken, nativeTokenAddress } from '../decode/router-decoder.js'
import { createPriceLists, fiatCurrencies, knownPriceFeeds, knownTokens } from './pricing.js'

/** The published lists from which the known tokens and price feeds are generated. */
const load = createRequire(import.meta.url)
type PublishedFeed = { chainId: number; name: string; input?: string; output?: string }
const publishedFeeds: readonly PublishedFeed[] = load('@yodlpay/tokenlists/dist/pricefeeds.json')
const publishedChains: readonly { chainId: number; nativeTokenName: string }[] = load(
  '@yodlpay/tokenlists/dist/chainlist-v1.json',
).chains

const chains = chainsWithRouters.filter((chainId) => chainId !== 5)
const feed = (chainId: number, address: string) =>
  knownPriceFeeds(chainId).find((known) => known.address === address.toLowerCase())
const token = (chainId: number, address: string) =>
  knownTokens(chainId).find((known) => known.address === address.toLowerCase())

describe('known routers', () => {
  const all = chainsWithRouters.flatMap((chainId) => knownRouters(chainId).map((router) => ({ chainId, ...router })))

  test.each([
    [1, '0x4cafd841df0df6da5739f729491887d64ad2794c', '0.1'],
    [1, '0x061888246a29feb9bb3f168cd8589b3cf4115668', '0.2'],
    [1, '0xe3a0bc3483ae5a04db7ef2954315133a6f7d228e', '0.5'],
    [8453, '0xaedaf330ae63926937588e728d9a6c80f033fc77', '0.6'],
    [1, '0x0487c9fe08db1c21a9c3cf373a4d93623b8169ee', '0.8'],
    [10, '0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9', '0.8'],
    [100, '0x3160ae35d64c03182cae1d64626894b563123e94', '0.8'],
  ])('chain %i has %s as version %s', (chainId, address, version) =>
    expect(knownRouters(chainId)).toContainEqual({ address, version }),
  )

  test('there are 40 routers of versions 0.1 to 0.6 and 7 of version 0.8, on 8 chains', () => {
    expect(all.filter(({ version }) => version === '0.8')).toHaveLength(7)
    expect(all.filter(({ version }) => ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6'].includes(version))).toHaveLength(40)
    expect(all).toHaveLength(47)
    expect(chainsWithRouters).toEqual([1, 5, 10, 56, 100, 137, 8453, 42161])
  })

  test('addresses are lowercase, and none is listed twice on a chain', () => {
    for (const { address } of all) expect(address).toMatch(/^0x[0-9a-f]{40}$/)
    expect(new Set(all.map(({ chainId, address }) => `${chainId}:${address}`)).size).toBe(47)
  })

  test('a chain without a deployment has none', () => expect(knownRouters(31337)).toEqual([]))
})

describe('known price feeds', () => {
  test('there are 775, on every chain that has routers', () =>
    expect(chains.map((chainId) => knownPriceFeeds(chainId).length)).toEqual([154, 121, 113, 35, 121, 87, 144]))

  test.each([
    [1, '0x449d117117838fFA61263B61dA6301AA2a88B13A', 'CHF', 'USD', 8],
    [1, '0xb49f677943BC038e9857d61E7d053CaA2C1734C1', 'EUR', 'USD', 8],
    [56, '0x0567f2323251f0aab15c8dfb1967e4e8a7d42aee', 'BNB', 'USD', 8],
    [8453, '0xd5Ec94430eF4170D819E0996BC53ed40d31638d8', 'USD+', 'USD', 8],
    // Their published names still say MATIC.
    [137, '0xAB594600376Ec9fD91F8e885dADF0CE036862dE0', 'POL', 'USD', 8],
    [137, '0x327e23A4855b6F663a28c5161541d69Af8973302', 'POL', 'ETH', 18],
    [137, '0x5787BefDc0ECd210Dfa948264631CD53E68F7802', 'LINK', 'POL', 18],
  ])('on chain %i, %s is %s/%s', (chainId, address, base, quote, decimals) => {
    expect(feed(chainId, address)).toEqual({ address: address.toLowerCase(), base, quote, decimals })
  })

  test.each([
    ['whose name says another quote', 1, '0x5b563107C8666d2142C216114228443B94152362'],
    ['of a pair of one', 1, '0x3f12643D3f6f874d39C2a4c9f2Cd6f2DbAC877FC'],
    ['without a pair', 1, '0x32EaFC72772821936BCc9b8A32dC394fEFcDBfD9'],
    ['that is several feeds at one address', 1, '0xA618f119504455762c9bBbcE4aC9EE7fde457d05'],
    ['that is several pairs at one address', 42161, '0x534a7FF707Bc862cAB0Dda546F1B817Be5235b66'],
    ['of nobody', 42161, '0x0000000000000000000000000000000000000000'],
  ])('an entry %s is not listed', (_, chainId, address) => expect(feed(chainId, address)).toBeUndefined())
})

test.each([
  ['the currency of the list', 1, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USDC', 'USD'],
  ['a fiat tag', 1, '0x6440f144b7e50d6a8439336510312d2f54beb01d', 'BOLD', 'USD'],
  ['the native symbol, wrapped', 8453, '0x4200000000000000000000000000000000000006', 'WETH', 'ETH'],
  ['its own symbol', 137, '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', 'POL', 'POL'],
  ['the list before the wrapped native', 100, '0xe91d153e0b41518a2ce8dd3d7944fa863463a97d', 'wxDAI', 'USD'],
  ['what the same asset is elsewhere, bridged', 100, '0x54e4cb2a4fa0ee46e3d9a98d13bea119666e09f6', 'EURC.e', 'EUR'],
])('a known token is worth %s', (_, chainId, address, symbol, currency) => {
  expect(token(chainId, address)).toEqual({ address: address.toLowerCase(), symbol, currency })
})

test.each(chains)('the lists of chain %i are well-formed and do not contradict themselves', (chainId) => {
  expect(knownTokens(chainId).length).toBeGreaterThan(5)
  expect(() => createPriceLists(knownTokens(chainId), knownPriceFeeds(chainId), null)).not.toThrow()
  expect(getNativeToken(chainId).symbol).toBe(token(chainId, nativeTokenAddress)?.symbol)
  for (const { address } of [...knownTokens(chainId), ...knownPriceFeeds(chainId)])
    expect(address).toMatch(/^0x[0-9a-f]{40}$/)
})

test('the generated lists are what the published data gives', async () => {
  const make = fileURLToPath(new URL('../../scripts/make-known-lists.mjs', import.meta.url))
  const { stderr } = await promisify(execFile)(process.execPath, [make, '--check'])
  expect(stderr).toBe('')
})

test('verify takes every currency that a look-up can show by the known lists', () => {
  const every = [...chains, 43114].flatMap((chainId) => [
    ...knownTokens(chainId).map(({ currency }) => currency),
    ...knownPriceFeeds(chainId).flatMap(({ base, quote }) => [base, quote]),
  ])
  const rejected = [...new Set([...every, ...fiatCurrencies])].filter((invoiceCurrency) => {
    const request = { chainId: 1, txHash: `0x${'0'.repeat(64)}`, invoiceAmount: '1', invoiceCurrency, address: 'shop' }
    try {
      parseVerifyRequest(Buffer.from(JSON.stringify(request)))
      return false
    } catch {
      return true
    }
  })
  expect(rejected).toEqual([])
})

test.each(publishedChains)(
  'on chain $chainId every known token, and the native one, has the published feed of its currency in US dollars',
  ({ chainId, nativeTokenName }) => {
    const isPublished = (currency: string) =>
      publishedFeeds.some(
        ({ chainId: id, input, output, name }) =>
          id === chainId && input?.toUpperCase() === currency && output === 'USD' && name.endsWith(' / USD'),
      )
    const isKnown = (currency: string) =>
      knownPriceFeeds(chainId).some(({ base, quote }) => base === currency && quote === 'USD')
    const native = token(chainId, nativeTokenAddress) ?? expect.fail('the native token is known')
    expect(native.symbol).toBe(nativeTokenName)
    expect(native.currency === 'USD' || isPublished(native.currency)).toBe(true)
    expect(knownTokens(chainId).filter(({ currency }) => isPublished(currency) && !isKnown(currency))).toEqual([])
  },
)
