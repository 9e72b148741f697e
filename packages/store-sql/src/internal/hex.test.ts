import { expect, test } from 'vitest'
import { parseHex, parseKey, toHex } from './values.js'

test.each(['0x', '0x00', '0xff00', `0x${'ab'.repeat(32)}`])('%s becomes bytes and the same text again', (text) => {
  expect(toHex(parseHex(text))).toBe(text)
  expect(toHex(`\\x${text.slice(2)}`)).toBe(text)
})

test.each(['', '0', '0xa', '0xAB', 'ab', '0xag', ' 0xab'])(
  '%j is rejected as a value, and looks up no hash',
  (text) => {
    expect(() => parseHex(text)).toThrow(TypeError)
    expect(parseKey(text)).toHaveLength(0)
  },
)

test('bytes in another format of PostgreSQL are rejected, not read as other digits', () => {
  expect(() => toHex('abc\\001')).toThrow('bytea_output')
})
