import { type Address, concat, type Hex } from 'viem'
import * as accounts from 'viem/account-abstraction'
import { describe, expect, test } from 'vitest'
import * as bundles from '../../test/bundles.js'
import type { ReceiptLog } from '../rpc/answers.js'
import {
  encodeIntegrationSuffix,
  findIntegrations,
  isBundle,
  knownEntryPoints,
  needsReceiptForIntegrations,
  parseBundle,
  parseIntegrationSuffix,
} from './integrations.js'

const { aggregatedBundle, beforeExecution, bundle, closing } = bundles
const entryPoint: Address = '0x0000000071727de22e5e9d8baf0edac6f37da032'
const [shop, cafe, bundler]: Address[] = ['0a', '0b', '0c'].map((byte): Address => `0x${byte.repeat(20)}`)
const alice: Address = `0x${'a1'.repeat(20)}`
const bob: Address = `0x${'b1'.repeat(20)}`
const plain: Hex = '0xb61d27f6'

const naming = (who: Address | undefined, calldata: Hex = plain): Hex =>
  who === undefined ? calldata : concat([calldata, encodeIntegrationSuffix(who)])
const payment: ReceiptLog = { address: `0x${'f0'.repeat(20)}`, topics: [], data: '0x' }
const before = beforeExecution(entryPoint)
const close = (sender: Address) => closing(entryPoint, sender)

/** Whom the payments among the logs name. */
function named(input: string, logs: readonly ReceiptLog[], to: string = entryPoint) {
  const places = [...logs.keys()].filter((place) => logs[place] === payment)
  const receipt = needsReceiptForIntegrations({ to, input }, false, parseIntegrationSuffix) ? { logs } : null
  return findIntegrations({ to, input }, places, receipt, parseIntegrationSuffix)
}
const operation = (sender: Address, who: Address | undefined) => ({ sender, callData: naming(who) })
const two = bundle('0.7', [operation(alice, shop), operation(bob, cafe)])

test("the known EntryPoints are viem's", () => {
  const { entryPoint06Address: six, entryPoint07Address: seven, entryPoint08Address: eight } = accounts
  const entryPoints = [six, seven, eight, accounts.entryPoint09Address]
  expect([...knownEntryPoints].sort()).toEqual(entryPoints.map((address) => address.toLowerCase()).sort())
})

test('two operations of one sender are distinguished', () => {
  const input = bundle('0.6', [operation(alice, shop), operation(alice, cafe)])
  expect(named(input, [before, payment, close(alice), payment, close(alice)])).toEqual([shop, cafe])
})

test('operations of all groups of an aggregated bundle count in their order', () => {
  const input = aggregatedBundle('0.7', [[operation(bob, cafe)], [operation(alice, shop)]])
  expect(named(input, [before, payment, close(bob), payment, close(alice)])).toEqual([cafe, shop])
})

test("an operation without a suffix gets neither another operation's integration nor the bundler's", () => {
  const input = bundle('0.7', [operation(alice, undefined), operation(bob, cafe)])
  const logs = [before, payment, close(alice), payment, close(bob)]
  expect(named(input, logs)).toEqual([null, cafe])
  expect(named(naming(bundler, input), logs)).toEqual([null, cafe])
})

test('a payment during validation, or after the last operation, has no integration', () => {
  expect(named(two, [payment, before, close(alice), close(bob), payment])).toEqual([null, null])
  expect(named(naming(bundler, two), [payment, before, close(alice), close(bob), payment])).toEqual([null, null])
})

test('UserOperationEvent logs of other contracts change nothing', () => {
  const forged = closing(payment.address as Address, bob)
  expect(named(two, [before, forged, payment, close(alice), forged, payment, close(bob)])).toEqual([shop, cafe])
})

test.each<[string, ReceiptLog[]]>([
  ['fewer operations', [before, payment, close(alice)]],
  ['more operations', [before, payment, close(alice), close(bob), close(bob)]],
  ['other senders', [before, payment, close(bob), close(alice)]],
  ['none', [before, payment]],
])('logs that close %s than the calldata has name nobody', (_, logs) => expect(named(two, logs)).toEqual([null]))

test('a bundle with malformed calldata has no integration', () => {
  const logs = [before, payment, close(alice), close(bob)]
  expect(named(two.slice(0, 200), logs)).toEqual([null])
  expect(named(naming(bundler, two.slice(0, 202) as Hex), logs)).toEqual([null])
})

test("a bundle through another contract has no integration; payments outside of it have that of the transaction's suffix", () => {
  const wrapper: Address = `0x${'dd'.repeat(20)}`
  const logs = [before, payment, close(alice), payment]
  expect(named(naming(bundler), logs, wrapper)).toEqual([null, bundler])
})

test("a direct call of a smart account has the integration of the transaction's suffix", () => {
  expect(named(naming(shop), [payment], alice)).toEqual([shop])
  expect(named(naming(shop), [payment, closing(payment.address as Address, alice)], alice)).toEqual([shop])
  expect(named(plain, [payment], alice)).toEqual([null])
})

test('the receipt is needed for bundles, and for a call with a suffix to another contract than a router', () => {
  const needed = (input: string, isRouter: boolean, to: string | null = entryPoint) =>
    needsReceiptForIntegrations({ to, input }, isRouter, parseIntegrationSuffix)
  expect(needed(two, false)).toBe(true)
  expect(needed(naming(shop), false)).toBe(true)
  expect(needed(plain, false)).toBe(false)
  expect(needed(naming(shop), true)).toBe(false)
  expect(needed(naming(shop), false, null)).toBe(false)
})

const operations: bundles.TestOperation[] = [
  { sender: alice, callData: '0x' },
  { sender: bob, callData: `0x${'5b'.repeat(33)}` },
  { sender: alice, callData: '0xb61d27f600ff' },
]

describe.each<bundles.EntryPointVersion>(['0.6', '0.7'])('a bundle for EntryPoint %s', (version) => {
  test('is parsed in the order of its operations', () => {
    const calldata = bundle(version, operations)
    expect(isBundle(calldata)).toBe(true)
    expect(parseBundle(calldata, 3)).toEqual(operations)
    expect(parseBundle(calldata.toUpperCase().replace('0X', '0x'), 3)).toMatchObject([{}, {}, {}])
  })

  test('that is aggregated is parsed group by group', () => {
    const [first, ...others] = operations
    const calldata = aggregatedBundle(version, [others, [], first === undefined ? [] : [first]])
    expect(isBundle(calldata)).toBe(true)
    expect(parseBundle(calldata, 3)).toEqual([...others, first])
  })

  test('with more operations than the limit is not parsed', () => {
    expect(parseBundle(bundle(version, operations), 2)).toBeNull()
    expect(parseBundle(aggregatedBundle(version, [operations, operations]), 5)).toBeNull()
  })

  test('that is truncated anywhere is parsed whole or not at all', () => {
    for (const calldata of [bundle(version, operations), aggregatedBundle(version, [operations])])
      for (let end = 0; end < calldata.length; end++) {
        const read = parseBundle(calldata.slice(0, end), 3)
        if (read !== null) expect(read).toEqual(operations)
      }
  })

  test('with any word replaced never throws', () => {
    const words: Hex[] = ['0x00', '0x01', '0x20', '0xffffffff', `0x${'ff'.repeat(32)}`]
    for (const calldata of [bundle(version, operations), aggregatedBundle(version, [operations])])
      for (let start = 10; start < calldata.length; start += 64)
        for (const word of words) {
          const changed = calldata.slice(0, start) + word.slice(2).padStart(64, '0') + calldata.slice(start + 64)
          expect(() => parseBundle(changed, 3)).not.toThrow()
        }
  })
})

test('other calldata is no bundle', () => {
  for (const calldata of ['0x', '0x1fad948', '0xb61d27f6', '0xd33dda5c00']) {
    expect(isBundle(calldata)).toBe(false)
    expect(parseBundle(calldata, 10)).toBeNull()
  }
})

const word = (value: number) => value.toString(16).padStart(64, '0')

test('calldata that points to one list of operations very often is rejected at once', () => {
  const groups = 1_000
  // Every group points to the same list of 1,000 operations.
  const list = [word(groups), ...Array.from({ length: groups }, () => word(groups * 32))]
  const group = [word(96), word(0), word(0), ...list]
  const calldata = `0xdbed18e0${word(64)}${word(0)}${[...list, ...group].join('')}`
  const before = process.cpuUsage()
  expect(parseBundle(calldata, 1_000)).toBeNull()
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
})

test('calldata that uses the same long bytes for many operations is rejected', () => {
  const operation = [`${'a1'.repeat(20)}`.padStart(64, '0'), word(0), word(0), word(128), word(320), '5b'.repeat(320)]
  const makeBundle = (count: number) => {
    const places = Array.from({ length: count }, () => word(count * 32))
    return `0x1fad948c${word(64)}${word(0)}${word(count)}${places.join('')}${operation.join('')}`
  }
  expect(parseBundle(makeBundle(1), 3)).toEqual([{ sender: alice, callData: `0x${'5b'.repeat(320)}` }])
  expect(parseBundle(makeBundle(3), 3)).toBeNull()
})
