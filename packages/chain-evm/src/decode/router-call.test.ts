import { type AbiFunction, encodeFunctionData, type Hex, pad, toFunctionSelector, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodedVersions, getExample, routerFunctions } from '../../test/abis.js'
import { chainFeed, makeAddresses, noFeed, payingCall, signedRate, underscored } from '../../test/router-logs.js'
import { callLayouts, parseRouterCall } from './router-call.js'

const [sender, receiver, tokenIn, token] = makeAddresses('a1', 'b2', 'c3', 'd4')
const [feed0, feed1, treasury, zeroAddress] = makeAddresses('e5', 'f6', '17', '00')
const memo = pad('0x6f72646572', { dir: 'right', size: 32 })
const word = (value: string) => value.slice(2).padStart(64, '0')
const singlePath: Hex = `0x${word(token)}${word('0xbb8')}${word(tokenIn)}`
const multiPath: Hex = `0x${word(token)}${word('0xbb8')}${word(sender)}${word('0x1f4')}${word(tokenIn)}`

const all = decodedVersions.flatMap((version) =>
  routerFunctions(version).map((item) => [version, item.name, item] as const),
)
const calls = all.filter(([, name]) => !/Uniswap|Pancake|Curve/.test(name))
const swaps = all.filter(([, name]) => /Uniswap|Pancake|Curve/.test(name))
const hasStructs = (version: string) => Number(version) >= 0.6

function getFeeds(version: string): unknown {
  if (version === '0.1') return [feed0]
  return hasStructs(version) ? [chainFeed(feed0), chainFeed(feed1)] : [feed0, feed1]
}
const bothFeeds = (version: string) => [{ contract: feed0 }, version === '0.1' ? null : { contract: feed1 }]

/** Every field of every argument that a test looks at has a value of its own. */
function encode(version: string, item: AbiFunction, given: Readonly<Record<string, unknown>> = {}): Hex {
  const fields: Record<string, unknown> = {
    ...{ sender, receiver, token, memo, amount: 500n, amountIn: 777n, amountOut: 500n, swapType: 1, path: multiPath },
    ...{ priceFeeds: getFeeds(version), extraFeeReceiver: treasury, extraFeeBps: 25n, extraFeeDivisor: 200n },
    ...{ route: getRoute(item), convenienceFeeBps: 7n },
    ...given,
  }
  const named = underscored(fields)
  const filler = (type: string) => (type === 'bool' ? true : type === 'bytes' ? '0x0102030405' : 5)
  const value = (type: string) =>
    type === 'address' ? sender : type === 'string' ? 'XYZ' : /^u?int256$/.test(type) ? 6n : filler(type)
  return encodeFunctionData({ abi: [item], args: item.inputs.map((input) => getExample(input, named, value)) })
}

function getRoute(item: AbiFunction): string[] {
  const [params] = item.inputs
  const route =
    params !== undefined && 'components' in params ? params.components.find((p) => p.name === 'route') : null
  const length = Number(/\[(\d+)\]/.exec(route?.type ?? '')?.[1] ?? 9)
  return [tokenIn, sender, token, ...Array.from({ length: length - 3 }, () => zeroAddress)]
}

test('the layouts cover every paying call of the ABIs, in the versions that have it, and nothing else', () => {
  const versions = new Map<string, string[]>()
  for (const [version, , item] of all) {
    const selector = toFunctionSelector(item)
    versions.set(selector, [...(versions.get(selector) ?? []), version])
  }
  expect(Object.fromEntries(Object.entries(callLayouts).map(([key, item]) => [key, item.versions]))).toEqual(
    Object.fromEntries(versions),
  )
})

test.each(calls)('version %s %s: what the event repeats, amount, feeds and fees are parsed', (version, name, item) => {
  const isFree = name === 'yodlWithAcross'
  expect(parseRouterCall(encode(version, item), version)).toEqual({
    ...{ sender: null, receiver, token, memoHex: memo, amount: 500n, feeds: bothFeeds(version), swap: null },
    extraFee: isFree ? null : version === '0.1' ? { divisor: 200n } : { bps: 25n },
    convenienceFeeBps: name === 'yodlWithSwappedToken' ? 7n : 0n,
  })
})

describe.each(swaps)('version %s %s', (version, name, item) => {
  test.each(name.endsWith('Curve') ? [1] : [0, 1])('reads all of it, and the token in, swap type %i', (swapType) => {
    const calldata = encode(version, item, { swapType, path: swapType === 0 ? singlePath : multiPath })
    expect(parseRouterCall(calldata, version)).toEqual({
      ...{ sender, receiver, token: null, memoHex: memo, amount: 500n, feeds: bothFeeds(version) },
      ...{ extraFee: { bps: 25n }, convenienceFeeBps: 0n, swap: { token: tokenIn, amountIn: 777n } },
    })
  })
})

describe.each(all)('version %s %s', (version, _name, item) => {
  const calldata = encode(version, item)
  const whole = parseRouterCall(calldata, version)

  test('a suffix behind the call changes nothing; a truncated call is parsed the same or not at all', () => {
    expect(parseRouterCall(`${calldata}${'80218021'.repeat(4)}`, version)).toEqual(whole)
    for (let end = 0; end < calldata.length; end += 7) {
      const cut = parseRouterCall(calldata.slice(0, end), version)
      if (cut !== null) expect([whole, { ...whole, feeds: null }]).toContainEqual(cut)
    }
  })

  test('is no call of a version that does not have it', () => {
    for (const other of [...decodedVersions, '1.0'])
      if (!callLayouts[toFunctionSelector(item)]?.versions.includes(other))
        expect(parseRouterCall(calldata, other)).toBeNull()
  })

  test('has no extra fee without a receiver or a size', () => {
    const without = { extraFeeReceiver: zeroAddress }
    expect(parseRouterCall(encode(version, item, without), version)?.extraFee).toBeNull()
    const free = { extraFeeBps: 0n, extraFeeDivisor: 0n }
    expect(parseRouterCall(encode(version, item, free), version)?.extraFee).toBeNull()
  })
})

describe('price feeds in a call', () => {
  const feedsIn = (version: string, name: string, priceFeeds: unknown) =>
    parseRouterCall(payingCall(version, name, { priceFeeds, receiver, token }), version)?.feeds

  test('of version 0.1 are none or one', () => {
    expect(feedsIn('0.1', 'payWithToken', [])).toEqual([null, null])
    expect(feedsIn('0.1', 'payWithToken', [feed0])).toEqual([{ contract: feed0 }, null])
    expect(feedsIn('0.1', 'payWithToken', [feed0, feed1])).toBeNull()
  })

  test.each(['0.2', '0.3', '0.4', '0.5'])('of version %s are two addresses, zero for none', (version) => {
    const name = version === '0.2' ? 'payWithToken' : 'yodlWithToken'
    expect(feedsIn(version, name, [zeroAddress, zeroAddress])).toEqual([null, null])
    expect(feedsIn(version, name, [feed0, zeroAddress])).toEqual([{ contract: feed0 }, null])
    expect(feedsIn(version, name, [zeroAddress, feed1])).toEqual([null, { contract: feed1 }])
  })

  const chf = signedRate('CHF', 12n * 10n ** 17n)
  const calledChf = { contract: null, codeHex: toHex('CHF'), rate: 12n * 10n ** 17n }
  const untyped = { ...noFeed, feedAddress: feed1 }
  test.each([
    ['none', [noFeed, noFeed], [null, null]],
    ['the first', [chainFeed(feed0), noFeed], [{ contract: feed0 }, null]],
    ['the second', [noFeed, chainFeed(feed1)], [null, { contract: feed1 }]],
    ['the second, as early clients say it', [chainFeed(zeroAddress), chainFeed(feed1)], [null, { contract: feed1 }]],
    ['both', [chainFeed(feed0), chainFeed(feed1)], [{ contract: feed0 }, { contract: feed1 }]],
    ['a second that counts by its address', [chainFeed(feed0), untyped], [{ contract: feed0 }, { contract: feed1 }]],
    ['a second without a type, alone', [noFeed, untyped], [null, null]],
    ['a signed rate', [chf, noFeed], [calledChf, null]],
    ['a signed rate and a feed', [chf, chainFeed(feed1)], [calledChf, { contract: feed1 }]],
    ['a signed rate of an endless code', [signedRate('C'.repeat(65), 1n), noFeed], null],
    ['a first with an address and no type', [{ ...noFeed, feedAddress: feed0 }, chainFeed(feed1)], null],
  ])('of version 0.8: %s', (_, priceFeeds, expected) => {
    expect(feedsIn('0.8', 'yodlWithToken', priceFeeds)).toEqual(expected)
  })
})

const uniswap08 = swaps.find(([version, name]) => version === '0.8' && name === 'yodlWithUniswap')?.[2] as AbiFunction
test.each([
  ['an unknown swap type', { swapType: 2 }],
  ['a path that is too short for its swap type', { swapType: 1, path: singlePath }],
  ['an empty path', { swapType: 0, path: '0x' }],
  ['a packed path', { swapType: 0, path: `0x${token.slice(2)}000bb8${tokenIn.slice(2)}` }],
  ['a path whose last word is too wide', { swapType: 0, path: `${singlePath.slice(0, 130)}${'ff'.repeat(32)}` }],
])('%s is no call', (_, given) => expect(parseRouterCall(encode('0.8', uniswap08, given), '0.8')).toBeNull())

test('an offset far outside the calldata is no call', () => {
  const calldata = encode('0.8', uniswap08)
  const withOffset = (offset: string) => `${calldata.slice(0, 10)}${offset}${calldata.slice(74)}`
  expect(parseRouterCall(withOffset('ff'.repeat(32)), '0.8')).toBeNull()
  expect(parseRouterCall(withOffset(`${'00'.repeat(28)}ffffffff`), '0.8')).toBeNull()
})

test.each(['', '0x', '0xe5417e8a', '0xe5417e8azz', 'toString', '__proto__'])('%j is no call', (calldata) => {
  expect(parseRouterCall(calldata, '0.8')).toBeNull()
})
