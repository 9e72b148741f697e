import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffCapMs, backoffMs } from '../values.js'

test.each([
  [1, 125, 250],
  [2, 250, 500],
  [3, 500, 1_000],
  [7, 8_000, 16_000],
  [8, 15_000, 30_000],
  [9, 15_000, 30_000],
  [5_000, 15_000, 30_000],
])('after %d failures in a row it waits %d to %d ms', (failures, least, most) => {
  expect(backoffMs(failures, 0)).toBe(least)
  expect(backoffMs(failures, 1)).toBe(most)
})

test('it never waits longer than the cap, nor less than half of the first wait', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, fraction) => {
      const ms = backoffMs(failures, fraction)
      expect(Number.isSafeInteger(ms)).toBe(true)
      expect(ms).toBeGreaterThanOrEqual(125)
      expect(ms).toBeLessThanOrEqual(backoffCapMs)
    }),
  )
})
