import { type AbiFunction, type AbiParameter, encodeFunctionData, type Hex, pad, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodedVersions, routerFunctions } from '../test/abis.js'
import { readSwapCall, swapLayouts } from './swap-call.js'

const sender = '0x00000000000000000000000000000000000000a1'
const receiver = '0x00000000000000000000000000000000000000b2'
const tokenIn = '0x00000000000000000000000000000000000000c3'
const tokenOut = '0x00000000000000000000000000000000000000d4'
const memo = pad('0x6f72646572', { dir: 'right', size: 32 })
const word = (value: string) => value.slice(2).padStart(64, '0')
const singlePath: Hex = `0x${word(tokenOut)}${word('0xbb8')}${word(tokenIn)}`
const multiPath: Hex = `0x${word(tokenOut)}${word('0xbb8')}${word(sender)}${word('0x1f4')}${word(tokenIn)}`

const swaps = decodedVersions.flatMap((version) =>
  routerFunctions(version)
    .filter(({ name }) => /^yodlWith(Uniswap|Pancake|Curve)$/.test(name))
    .map((item) => [version, item.name, item] as const),
)

/** A value of any ABI type, filled in where the test cares. */
function exampleOf(parameter: AbiParameter, given: Readonly<Record<string, unknown>>): unknown {
  const { type, name = '' } = parameter
  if (name in given) return given[name]
  const list = /^(.*)\[(\d*)\]$/.exec(type)
  if (list !== null)
    return Array.from({ length: Number(list[2] || 2) }, () =>
      exampleOf({ ...parameter, type: list[1] ?? '', name: '' }, given),
    )
  if (type === 'tuple' && 'components' in parameter)
    return Object.fromEntries(parameter.components.map((part) => [part.name, exampleOf(part, given)]))
  if (type === 'address') return receiver
  if (type === 'bool') return true
  if (type === 'string') return 'CHF'
  if (type === 'bytes') return '0x0102030405'
  if (type === 'bytes32') return memo
  return type === 'int8' || type === 'uint8' || type === 'uint32' ? 1 : 5n
}

function encode(item: AbiFunction, given: Readonly<Record<string, unknown>>): Hex {
  const base = { sender, receiver, amountIn: 777n, memo, swapType: 1, path: multiPath, ...given }
  return encodeFunctionData({ abi: [item], args: item.inputs.map((input) => exampleOf(input, base)) })
}

function routeOf(item: AbiFunction): string[] {
  const [params] = item.inputs
  const route =
    params !== undefined && 'components' in params ? params.components.find((p) => p.name === 'route') : null
  const length = Number(/\[(\d+)\]/.exec(route?.type ?? '')?.[1] ?? 9)
  return [tokenIn, sender, tokenOut, ...Array.from({ length: length - 3 }, () => `0x${'00'.repeat(20)}`)]
}

test('the layouts cover every swap call of the ABIs and nothing else', () => {
  expect(Object.keys(swapLayouts).sort()).toEqual(
    [...new Set(swaps.map(([, , item]) => toFunctionSelector(item)))].sort(),
  )
})

describe.each(swaps)('version %s %s', (_version, name, item) => {
  const swapTypes = name === 'yodlWithCurve' ? [1] : [0, 1]
  test.each(swapTypes)('reads token, amount and the arguments of the event, swap type %i', (swapType) => {
    const path = swapType === 0 ? singlePath : multiPath
    const calldata = encode(item, { route: routeOf(item), swapType, path })
    expect(readSwapCall(calldata)).toEqual({ token: tokenIn, amountIn: 777n, sender, receiver, memoHex: memo })
  })

  test('a suffix behind the call changes nothing; a call cut anywhere is no swap call or the same one', () => {
    const calldata = encode(item, { route: routeOf(item) })
    const whole = readSwapCall(calldata)
    expect(readSwapCall(`${calldata}${'80218021'.repeat(4)}`)).toEqual(whole)
    for (let end = 0; end < calldata.length; end += 7)
      expect([null, whole]).toContainEqual(readSwapCall(calldata.slice(0, end)))
  })
})

const uniswap08 = swaps.find(([version, name]) => version === '0.8' && name === 'yodlWithUniswap')?.[2] as AbiFunction
test.each([
  ['an unknown swap type', { swapType: 2 }],
  ['a path that is too short for its swap type', { swapType: 1, path: singlePath }],
  ['an empty path', { swapType: 0, path: '0x' }],
  ['a packed path', { swapType: 0, path: `0x${tokenOut.slice(2)}000bb8${tokenIn.slice(2)}` }],
  [
    'a path whose last word is wider than an address',
    { swapType: 0, path: `${singlePath.slice(0, 130)}${'ff'.repeat(32)}` },
  ],
])('%s is no swap call', (_, given) => {
  expect(readSwapCall(encode(uniswap08, given))).toBeNull()
})

test('an offset far outside the calldata is no swap call', () => {
  const calldata = encode(uniswap08, {})
  expect(readSwapCall(`${calldata.slice(0, 10)}${'ff'.repeat(32)}${calldata.slice(74)}`)).toBeNull()
  expect(readSwapCall(`${calldata.slice(0, 10)}${'00'.repeat(28)}ffffffff${calldata.slice(74)}`)).toBeNull()
})

test.each(decodedVersions)('the direct calls of version %s are no swap calls', (version) => {
  for (const item of routerFunctions(version))
    if (/^yodlWith(Token|Across|SwappedToken)$/.test(item.name)) expect(readSwapCall(encode(item, {}))).toBeNull()
})

test.each(['', '0x', '0xe5417e8a', '0xe5417e8azz'])('%j is no swap call', (calldata) => {
  expect(readSwapCall(calldata)).toBeNull()
})
