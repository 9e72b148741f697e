import fc from 'fast-check'
import { Value } from 'ox'
import { expect, it } from 'vitest'
import { decodeMemo, formatUnits } from './payment.js'

const memo = (bytes: Uint8Array | string) => `0x${Buffer.from(bytes).toString('hex').padEnd(64, '0')}`

it.each([
  ['order-7', 'order-7'],
  ['', ''],
  ['  spaces stay  ', '  spaces stay  '],
  ['Ünïcode ✓', 'Ünïcode ✓'],
  ['x'.repeat(32), 'x'.repeat(32)],
  ['\ufeffbom stays', '\ufeffbom stays'],
  ['a\u0000b', 'a\u0000b'],
])('decodeMemo reads %j verbatim without the padding', (text, expected) => {
  expect(decodeMemo(memo(text))).toBe(expected)
})

it('decodeMemo returns bytes that are not UTF-8 as the hex of all 32', () => {
  const hex = memo(Uint8Array.of(0xff, 0xfe, 0x01))
  expect(decodeMemo(hex)).toBe(hex)
})

it('formatUnits agrees with an independent implementation on any amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 255 }), (value, decimals) => {
      expect(formatUnits(value, decimals)).toBe(Value.format(value, decimals))
    }),
  )
})

it('formatUnits rejects a negative amount', () => {
  expect(() => formatUnits(-1n, 6)).toThrow(RangeError)
})
