import { expect, test } from 'vitest'
import { assertFresh, freshnessDefaults } from './freshness.js'

const signedAt = 1_700_000_000
const at = (seconds: number) => ({ now: () => (signedAt + seconds) * 1000 })

test('accepts the last second of the window, refuses the next', () => {
  expect(assertFresh(signedAt, at(300))).toBe(300)
  expect(() => assertFresh(signedAt, at(301))).toThrow(
    expect.objectContaining({ code: 'ERR_DELIVERY_STALE', ageSeconds: 301 }),
  )
})

test('accepts 300 s ahead, refuses 301', () => {
  expect(assertFresh(signedAt, at(-300))).toBe(-300)
  expect(() => assertFresh(signedAt, at(-301))).toThrow(
    expect.objectContaining({ code: 'ERR_DELIVERY_FUTURE', ageSeconds: -301 }),
  )
})

test('the default tolerance is the recommended 300 s', () => {
  expect(freshnessDefaults.toleranceSeconds).toBe(300)
})

test('a tolerance of 0 stays 0', () => {
  expect(assertFresh(signedAt, { ...at(0), toleranceSeconds: 0 })).toBe(0)
  expect(assertFresh(signedAt, { now: () => signedAt * 1000 + 999, toleranceSeconds: 0 })).toBe(0)
  expect(() => assertFresh(signedAt, { ...at(1), toleranceSeconds: 0 })).toThrow('0 s is accepted')
})

test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, '300', null])(
  'a tolerance of %s is a RangeError',
  (value) => {
    expect(() => assertFresh(signedAt, { ...at(0), toleranceSeconds: value as number })).toThrow(RangeError)
  },
)

test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined])('a clock that gives %s accepts nothing', (value) => {
  expect(() => assertFresh(signedAt, { now: () => value as number })).toThrow(RangeError)
})

test('a clock that is no function is a TypeError', () => {
  expect(() => assertFresh(signedAt, { now: 5 as unknown as () => number })).toThrow(TypeError)
})

test('the system clock is the default', () => {
  expect(assertFresh(Math.floor(Date.now() / 1000))).toBeLessThanOrEqual(1)
})
