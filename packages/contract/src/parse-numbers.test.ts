import { expect, test } from 'vitest'
import { parseContentLength, parseInstant } from './parse-numbers.js'

test.each([
  ['2026-03-01', Date.UTC(2026, 2, 1)],
  ['2026-03-01T09:30Z', Date.UTC(2026, 2, 1, 9, 30)],
  ['2026-03-01T09:30:05.123456789Z', Date.UTC(2026, 2, 1, 9, 30, 5, 123)],
  ['2026-03-01T09:30:05+01:00', Date.UTC(2026, 2, 1, 8, 30, 5)],
  ['2024-02-29T00:00:00.0-00:30', Date.UTC(2024, 1, 29, 0, 30)],
])('%s is a time', (text, at) => expect(parseInstant(text)).toBe(at))

test.each([
  ...['', '-1', '5', 'soon 5', '2026', '2026-03', '2026-02-30', '2025-02-29T00:00Z', '2026-13-01', '2026-03-01T25:00Z'],
  ...['2026-03-01T09:30', '2026-03-01 09:30Z', '1 Mar 2026', ' 2026-03-01', '2026-03-01\n', '+002026-03-01', 5, null],
])('%j is no time', (text) => expect(parseInstant(text)).toBeNull())

test('a length is a whole number in plain digits', () => {
  expect(parseContentLength('0')).toBe(0)
  expect(parseContentLength('16384')).toBe(16_384)
  for (const text of ['', '-1', '1e3', '0x10', '1.0', ' 1', '1, 1', '9'.repeat(16), null, undefined, 5])
    expect(parseContentLength(text), String(text)).toBeNull()
})
