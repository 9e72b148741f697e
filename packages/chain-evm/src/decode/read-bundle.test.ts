import type { Address, Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { aggregatedBundle, bundle, type EntryPointVersion, type TestOperation } from '../../test/bundles.js'
import { isBundle, parseBundle } from './integrations.js'

const address = (byte: string): Address => `0x${byte.repeat(20)}`
const operations: TestOperation[] = [
  { sender: address('a1'), callData: '0x' },
  { sender: address('a2'), callData: `0x${'5b'.repeat(33)}` },
  { sender: address('a1'), callData: '0xb61d27f600ff' },
]

describe.each<EntryPointVersion>(['0.6', '0.7'])('a bundle for EntryPoint %s', (version) => {
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

test('calldata that points to one list of operations very often is rejected at once', () => {
  const word = (value: number) => value.toString(16).padStart(64, '0')
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
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const operation = [`${'a1'.repeat(20)}`.padStart(64, '0'), word(0), word(0), word(128), word(320), '5b'.repeat(320)]
  const makeBundle = (count: number) => {
    const places = Array.from({ length: count }, () => word(count * 32))
    return `0x1fad948c${word(64)}${word(0)}${word(count)}${places.join('')}${operation.join('')}`
  }
  expect(parseBundle(makeBundle(1), 3)).toEqual([{ sender: address('a1'), callData: `0x${'5b'.repeat(320)}` }])
  expect(parseBundle(makeBundle(3), 3)).toBeNull()
})
