import fc from 'fast-check'
import { Value } from 'ox'
import { describe, expect, it } from 'vitest'
import { formatUnits } from './payment.js'

describe('formatUnits', () => {
  it.each([
    [0n, 6, '0'],
    [0n, 0, '0'],
    [1n, 0, '1'],
    [1n, 6, '0.000001'],
    [10_038_880n, 6, '10.03888'],
    [1_000_000n, 6, '1'],
    [100n, 2, '1'],
    [2n ** 256n - 1n, 0, '115792089237316195423570985008687907853269984665640564039457584007913129639935'],
    [1n, 255, `0.${'0'.repeat(254)}1`],
  ])('%s base units at %s decimals are %s', (value, decimals, text) => {
    expect(formatUnits(value, decimals)).toBe(text)
  })

  it('agrees with an independent implementation on any amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 80 }), (value, decimals) => {
        expect(formatUnits(value, decimals)).toBe(Value.format(value, decimals))
      }),
    )
  })

  it('rejects a negative amount', () => {
    expect(() => formatUnits(-1n, 6)).toThrow(RangeError)
  })
})
