import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRangeSize } from './range-size.js'

test('a single failure changes nothing, each further one in a row halves, down to one block', () => {
  const size = createRangeSize(500)
  const sizes = Array.from({ length: 12 }, () => {
    size.failed(size.current())
    return size.current()
  })
  expect(sizes).toEqual([500, 250, 125, 62, 31, 15, 7, 3, 1, 1, 1, 1])
})

test('a success in between makes the next failure a first one again', () => {
  const size = createRangeSize(100)
  size.failed(100)
  size.succeeded(100)
  size.failed(100)
  expect(size.current()).toBe(100)
})

test('full ranges grow it by a fiftieth of the maximum, up to the maximum', () => {
  const size = createRangeSize(500)
  size.failed(500)
  size.failed(500)
  const sizes = Array.from({ length: 26 }, () => {
    size.succeeded(size.current())
    return size.current()
  })
  expect(sizes.slice(0, 3)).toEqual([260, 270, 280])
  expect(sizes.slice(-3)).toEqual([490, 500, 500])
})

test('a short range near the head says nothing about long ones', () => {
  const size = createRangeSize(500)
  size.failed(500)
  size.failed(500)
  size.succeeded(249)
  expect(size.current()).toBe(250)
})

test('what failed is halved, not what might have been asked', () => {
  const size = createRangeSize(500)
  size.failed(8)
  size.failed(8)
  expect(size.current()).toBe(4)
})

test('whatever happens it stays between 1 and the maximum', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), fc.array(fc.boolean()), (max, outcomes) => {
      const size = createRangeSize(max)
      for (const ok of outcomes) {
        if (ok) size.succeeded(size.current())
        else size.failed(size.current())
        expect(Number.isSafeInteger(size.current())).toBe(true)
        expect(size.current()).toBeGreaterThanOrEqual(1)
        expect(size.current()).toBeLessThanOrEqual(max)
      }
    }),
  )
})
