import { describe, expect, it } from 'vitest'
import { parseMemo } from './payment.js'

const memo = (bytes: Uint8Array | string) => `0x${Buffer.from(bytes).toString('hex').padEnd(64, '0')}`

describe('memoText', () => {
  it.each([
    ['order-7', 'order-7'],
    ['', ''],
    ['  spaces stay  ', '  spaces stay  '],
    ['Ünïcode ✓', 'Ünïcode ✓'],
    ['x'.repeat(32), 'x'.repeat(32)],
    ['\ufeffbom stays', '\ufeffbom stays'],
    ['a\u0000b', 'a\u0000b'],
  ])('reads %j verbatim without the padding', (text, expected) => {
    expect(parseMemo(memo(text))).toBe(expected)
  })

  it('returns bytes that are not UTF-8 as the hex of all 32', () => {
    const hex = memo(Uint8Array.of(0xff, 0xfe, 0x01))
    expect(parseMemo(hex)).toBe(hex)
  })
})
