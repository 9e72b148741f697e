import { toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { makeAddresses, makeCodeHash } from '../../test/router-logs.js'
import { noConversion, type PaidConversion, type PaidStep } from '../decode/pair-conversions.js'
import type { DecodedPayment, RouterCall } from '../decode/router-decoder.js'
import { nativeTokenAddress } from '../decode/router-decoder.js'
import { loadKeccak } from '../proof/keccak.js'
import { computePricing, createPriceLists } from './pricing.js'

await loadKeccak()

const [usdc, zchf, unlistedToken] = makeAddresses('c1', 'c2', 'c3')
const [chfUsd, usdcUsd, ethUsd, unlistedFeed, address] = makeAddresses('f1', 'f2', 'f4', 'f3', 'b2')
const memoHex = `0x${'00'.repeat(32)}`

const lists = createPriceLists(
  [
    { address: usdc, symbol: 'USDC', currency: 'USD' },
    { address: zchf, symbol: 'ZCHF', currency: 'CHF' },
  ],
  [
    { address: chfUsd, base: 'CHF', quote: 'USD', decimals: 8 },
    { address: usdcUsd, base: 'USDC', quote: 'USD', decimals: 8 },
    { address: ethUsd, base: 'ETH', quote: 'USD', decimals: 18 },
  ],
  'ETH',
)
const payment = (gross: bigint, token = usdc, net = gross): DecodedPayment => ({
  ...{ kind: 'payment', sender: address, receiver: address, token, memoHex, provedBy: 'event' },
  ...{ gross, net },
})
const getCall = (amount: bigint): RouterCall => ({
  ...{ sender: null, receiver: address, token: null, memoHex, amount },
  ...{ feeds: null, extraFee: null, convenienceFeeBps: 0n, swap: null },
})
const step = (contract: string | null, rate: bigint, use: PaidStep['use'] = 'multiply'): PaidStep => ({
  ...{ use, contract, rate },
  ...{ codeHash: contract === null ? makeCodeHash('CHF') : null, codeHex: null },
})
const shown = (provedBy: PaidConversion['provedBy'], ...steps: PaidStep[]): PaidConversion => ({ steps, provedBy })
const price = (made: DecodedPayment, conversion: PaidConversion, call: RouterCall | null = null) =>
  computePricing(lists, made, conversion, call)

describe('feeds of a conversion that the router proves', () => {
  test('have the pair and decimals of the list', () => {
    expect(price(payment(1n), shown('router', step(chfUsd, 112n))).feeds).toEqual([
      { use: 'multiply', contract: chfUsd, pair: { base: 'CHF', quote: 'USD' }, rate: 112n, decimals: 8 },
    ])
  })

  test('have no pair and the usual 8 decimals when they are not listed', () => {
    expect(price(payment(1n), shown('router', step(unlistedFeed, 112n, 'divide'))).feeds).toEqual([
      { use: 'divide', contract: unlistedFeed, pair: null, rate: 112n, decimals: 8 },
    ])
  })

  test.each([
    ['of another currency than the token multiplies', chfUsd, usdc, 'multiply'],
    ['of the token’s currency divides', chfUsd, zchf, 'divide'],
    ['of the token itself divides', usdcUsd, usdc, 'divide'],
    ['of anything multiplies when the token is not listed', chfUsd, unlistedToken, 'multiply'],
  ])('whose use is not said: one %s', (_, feed, token, use) => {
    expect(price(payment(1n, token), shown('router', step(feed, 112n, 'unknown'))).feeds[0]?.use).toBe(use)
  })
})

describe('a conversion that can be forged', () => {
  const made = payment(112n)
  const unknown = { use: 'multiply', contract: chfUsd, pair: null, rate: 112_000_000n, decimals: 8 }
  const conversion = shown('call', step(chfUsd, 112_000_000n))

  test('is trusted when it converts the amount of the call to the amount paid', () => {
    const { feeds, calledAmount } = price(made, conversion, getCall(100n))
    expect(feeds[0]?.pair).toEqual({ base: 'CHF', quote: 'USD' })
    expect(calledAmount).toBe(100n)
  })

  test.each([
    ['the call leads to another amount', conversion, getCall(101n)],
    ['there is no call', conversion, null],
    ['it is not the one of the call', shown('nothing', step(chfUsd, 112_000_000n)), getCall(100n)],
  ])('means nothing when %s', (_, given, call) => {
    expect(price(made, given, call)).toMatchObject({ feeds: [unknown], calledAmount: null })
  })

  test('that is not trusted keeps the decimals of the list', () => {
    const { feeds } = price(made, shown('nothing', step(ethUsd, 5n)))
    expect(feeds).toEqual([{ use: 'multiply', contract: ethUsd, pair: null, rate: 5n, decimals: 18 }])
  })

  test('that is not trusted multiplies, also where its use is unknown and the token is the base', () => {
    const { feeds } = price(payment(1n, zchf), shown('nothing', step(chfUsd, 112n, 'unknown')))
    expect(feeds).toEqual([{ use: 'multiply', contract: chfUsd, pair: null, rate: 112n, decimals: 8 }])
  })

  test('means nothing when one of its feeds is not listed', () => {
    const steps = [step(chfUsd, 112_000_000n), step(unlistedFeed, 1n, 'divide')]
    expect(price(made, shown('call', ...steps), getCall(100n)).feeds.map(({ pair }) => pair)).toEqual([null, null])
  })
})

describe('a signed rate', () => {
  const made = payment(120n)
  const chf = step(null, 12n * 10n ** 17n)

  test('is of the currency whose hash the event has, in US dollars', () => {
    expect(price(made, shown('call', chf), getCall(100n))).toMatchObject({
      feeds: [{ use: 'multiply', contract: null, pair: { base: 'CHF', quote: 'USD' }, decimals: 18 }],
      calledAmount: 100n,
    })
  })

  test.each([
    ['that the call names', toHex('XYZ'), { base: 'XYZ', quote: 'USD' }],
    ['that the call names, with signs', toHex('USD0++'), { base: 'USD0++', quote: 'USD' }],
    ['that the call does not name', null, null],
    ['that is no code', toHex('X Y'), null],
    ['that verify rejects, in small letters', toHex('xyz'), null],
    ['that verify rejects, too long', toHex('X'.repeat(17)), null],
    ['that is no text', '0xff00', null],
  ])('of a currency on no list, %s', (_, codeHex, pair) => {
    const unknown = { ...chf, codeHash: makeCodeHash('XYZ'), codeHex }
    expect(price(made, shown('call', unknown), getCall(100n)).feeds[0]?.pair).toEqual(pair)
  })

  test('that changes no amount proves nothing: early routers ignore a lone one', () => {
    const one = { ...chf, rate: 10n ** 18n }
    expect(price(payment(100n), shown('call', one), getCall(100n))).toMatchObject({
      feeds: [{ pair: null, decimals: 18 }],
      calledAmount: null,
    })
  })
})

describe('the amount of the call', () => {
  test.each([
    ['the called amount when it equals the paid one', getCall(7n), 7n],
    ['null without a call', null, null],
    ['null when the call has another amount than the payment', getCall(8n), null],
  ])('without a conversion: %s', (_, call, expected) => {
    expect(price(payment(7n), noConversion, call).calledAmount).toBe(expected)
  })

  test('is exact where dividing back is not', () => {
    // 10.04 USD at 1.00011 USD per USDC; many amounts of dollars give the same amount of USDC.
    const conversion = shown('call', step(usdcUsd, 100_011_000n, 'divide'))
    expect(price(payment(10_038_895n), conversion, getCall(10_040_000n)).calledAmount).toBe(10_040_000n)
    expect(price(payment(10_038_896n), conversion, getCall(10_040_000n)).calledAmount).toBeNull()
  })
})

describe('the service’s fee', () => {
  const total = (fees: bigint, gross = 1_000_000n) => payment(gross, usdc, gross - fees)
  const getFee = (made: DecodedPayment, call: Partial<RouterCall>) =>
    price(made, noConversion, { ...getCall(1n), ...call }).serviceFee

  test.each([
    ['all of it when the call has no extra fee', 2_000n, {}, 2_000n],
    ['what the extra fee leaves', 4_500n, { extraFee: { bps: 25n } }, 2_000n],
    ['nothing when the extra fee is all', 2_500n, { extraFee: { bps: 25n } }, 0n],
    ['what an extra fee by divisor leaves', 7_000n, { extraFee: { divisor: 200n } }, 2_000n],
    ['with the convenience fee', 2_700n, { convenienceFeeBps: 7n }, 2_700n],
    ['the convenience fee alone', 700n, { convenienceFeeBps: 7n }, 700n],
    ['nothing of nothing', 0n, {}, 0n],
    ['unknown when the call does not explain the total', 4_501n, { extraFee: { bps: 25n } }, null],
    ['unknown when the extra fee is above the total', 100n, { extraFee: { bps: 25n } }, null],
  ])('is %s', (_, fees, call, expected) => expect(getFee(total(fees), call)).toBe(expected))

  test('rounds each fee down by itself', () => {
    // Of 999: 0.2 % is 1, 0.25 % is 2; together they would be 4.
    expect(getFee(total(3n, 999n), { extraFee: { bps: 25n } })).toBe(1n)
    expect(getFee(total(4n, 999n), { extraFee: { bps: 25n } })).toBeNull()
  })

  test('is unknown without a call', () => expect(price(total(2_000n), noConversion).serviceFee).toBeNull())
})

const mixedCase = '0x00000000000000000000000000000000000000AB'
const listed = { address: mixedCase, symbol: 'USDC', currency: 'USD' }
const feed = { address: mixedCase, base: 'CHF', quote: 'USD', decimals: 8 }

test('tokens and feeds are found by their lowercased address alone', () => {
  const lists = createPriceLists([listed], [feed], null)
  expect(lists.token(mixedCase.toLowerCase())).toEqual({ ...listed, address: mixedCase.toLowerCase() })
  expect(lists.feed(mixedCase.toLowerCase())).toEqual({ ...feed, address: mixedCase.toLowerCase() })
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
  for (const text of ['CHF', 'USD', 'XAU', 'WSTETH']) expect(code(makeCodeHash(text))).toBe(text)
  expect(code(makeCodeHash('chf'))).toBeNull()
  expect(code(makeCodeHash('wstETH'))).toBeNull()
})

test('an entry may come twice, but not with two meanings', () => {
  const again = { ...listed, address: mixedCase.toLowerCase() }
  expect(() => createPriceLists([listed, again], [feed, feed], null)).not.toThrow()
  expect(() => createPriceLists([listed, { ...again, currency: 'EUR' }], [], null)).toThrow(
    'listed as USDC, worth USD and as USDC, worth EUR',
  )
  expect(() => createPriceLists([], [feed, { ...feed, decimals: 18 }], null)).toThrow(
    'listed as CHF/USD with 8 decimals and as CHF/USD with 18 decimals',
  )
})

test.each([
  ['a token’s address', [{ ...listed, address: '0x1' }], [], TypeError],
  ['a token without a symbol', [{ ...listed, symbol: '' }], [], TypeError],
  ['a token without a currency', [{ ...listed, currency: '' }], [], TypeError],
  ['a token’s currency that verify rejects', [{ ...listed, currency: 'EURC.e' }], [], TypeError],
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
