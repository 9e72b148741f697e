import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { computeBackoffMs, findDuplicateKey, maxBackoffMs } from './values.js'

test.each([
  [1, 125, 250],
  [2, 250, 500],
  [3, 500, 1_000],
  [7, 8_000, 16_000],
  [8, 15_000, 30_000],
  [9, 15_000, 30_000],
  [5_000, 15_000, 30_000],
])('after %d failures in a row it waits %d to %d ms', (failures, least, most) => {
  expect(computeBackoffMs(failures, 0)).toBe(least)
  expect(computeBackoffMs(failures, 1)).toBe(most)
})

test('it never waits longer than the cap, nor less than half of the first wait', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, fraction) => {
      const ms = computeBackoffMs(failures, fraction)
      expect(Number.isSafeInteger(ms)).toBe(true)
      expect(ms).toBeGreaterThanOrEqual(125)
      expect(ms).toBeLessThanOrEqual(maxBackoffMs)
    }),
  )
})

it.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"x":{"b":1,"c":{},"b":2}}', 'b'],
  ['[{"a":1},{"a":1,"a":1}]', 'a'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
])('findDuplicateKey finds it in %s', (json, key) => expect(findDuplicateKey(json)).toBe(key))

it.each([
  ...['{"a":1,"b":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":["a","a"]}', '{"a":"\\",\\"a\\":1"}'],
  ...['{"a":"{","b":",","c":"\\\\"}', 'null', '"a"'],
])('findDuplicateKey finds none in %s', (json) => expect(findDuplicateKey(json)).toBeNull())
