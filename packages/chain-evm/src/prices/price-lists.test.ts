import { expect, test } from 'vitest'
import { makeCodeHash } from '../../test/router-logs.js'
import { nativeTokenAddress } from '../decode/router-decoder.js'
import { loadKeccak } from '../proof/keccak.js'
import { createPriceLists } from './pricing.js'

await loadKeccak()

const address = '0x00000000000000000000000000000000000000AB'
const usdc = { address, symbol: 'USDC', currency: 'USD' }
const feed = { address, base: 'CHF', quote: 'USD', decimals: 8 }

test('tokens and feeds are found by their lowercased address alone', () => {
  const lists = createPriceLists([usdc], [feed], null)
  expect(lists.token(address.toLowerCase())).toEqual({ ...usdc, address: address.toLowerCase() })
  expect(lists.feed(address.toLowerCase())).toEqual({ ...feed, address: address.toLowerCase() })
  expect(lists.token(`0x${'12'.repeat(20)}`)).toBeNull()
  expect(lists.feed(`0x${'12'.repeat(20)}`)).toBeNull()
})

test('the native token is worth itself, unless the list says otherwise or nothing is known', () => {
  const native = { address: nativeTokenAddress, symbol: 'xDAI', currency: 'USD' }
  expect(createPriceLists([], [], 'ETH').token(nativeTokenAddress)).toMatchObject({ symbol: 'ETH', currency: 'ETH' })
  expect(createPriceLists([native], [], 'ETH').token(nativeTokenAddress)).toEqual(native)
  expect(createPriceLists([], [], 'xDAI').token(nativeTokenAddress)).toMatchObject({ symbol: 'xDAI', currency: 'XDAI' })
  expect(createPriceLists([], [], 'USD+').token(nativeTokenAddress)).toMatchObject({ currency: 'USD+' })
  expect(createPriceLists([], [], 'Ξ').token(nativeTokenAddress)).toBeNull()
  expect(createPriceLists([], [], null).token(nativeTokenAddress)).toBeNull()
})

test("codes are those of fiat currencies and of the feeds' bases", () => {
  const { code } = createPriceLists([], [{ ...feed, base: 'WSTETH' }], null)
  expect(['CHF', 'USD', 'XAU', 'WSTETH'].map((text) => code(makeCodeHash(text)))).toEqual([
    'CHF',
    'USD',
    'XAU',
    'WSTETH',
  ])
  expect(code(makeCodeHash('chf'))).toBeNull()
  expect(code(makeCodeHash('wstETH'))).toBeNull()
})

test('an entry may come twice, but not with two meanings', () => {
  const again = { ...usdc, address: address.toLowerCase() }
  expect(() => createPriceLists([usdc, again], [feed, feed], null)).not.toThrow()
  expect(() => createPriceLists([usdc, { ...again, currency: 'EUR' }], [], null)).toThrow(
    'listed as USDC, worth USD and as USDC, worth EUR',
  )
  expect(() => createPriceLists([], [feed, { ...feed, decimals: 18 }], null)).toThrow(
    'listed as CHF/USD with 8 decimals and as CHF/USD with 18 decimals',
  )
})

test.each([
  ['a token’s address', [{ ...usdc, address: '0x1' }], [], TypeError],
  ['a token without a symbol', [{ ...usdc, symbol: '' }], [], TypeError],
  ['a token without a currency', [{ ...usdc, currency: '' }], [], TypeError],
  ['a token’s currency that verify rejects', [{ ...usdc, currency: 'EURC.e' }], [], TypeError],
  ['a feed’s address', [], [{ ...feed, address: 'CHF' }], TypeError],
  ['a feed without a base', [], [{ ...feed, base: '' }], TypeError],
  ['a feed without a quote', [], [{ ...feed, quote: '' }], TypeError],
  ['a feed’s base that verify rejects', [], [{ ...feed, base: 'wstETH' }], TypeError],
  ['decimals below 0', [], [{ ...feed, decimals: -1 }], RangeError],
  ['decimals that are not whole', [], [{ ...feed, decimals: 0.5 }], RangeError],
  ['decimals above 255', [], [{ ...feed, decimals: 256 }], RangeError],
] as const)('%s is rejected', (_, tokens, feeds, kind) => {
  expect(() => createPriceLists(tokens, feeds, null)).toThrow(kind)
})
