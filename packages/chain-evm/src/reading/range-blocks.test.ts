import { expect, test } from 'vitest'
import { createRangeBlocks } from './range-blocks.js'

test('ranges grow by steps while they are not full, up to a bound', () => {
  const blocks = createRangeBlocks()
  const start = blocks.current('bloom')
  blocks.read('bloom', start, start, 0.5)
  expect(blocks.current('bloom')).toBe(start * 1.25)
  for (let index = 0; index < 40; index++) blocks.read('bloom', blocks.current('bloom'), blocks.current('bloom'), 0)
  expect(blocks.current('bloom')).toBe(1_000)
})

test('a range that was cut gives the size of the next, which is at least one block, and doubles while they are not full', () => {
  const blocks = createRangeBlocks()
  blocks.read('bloom', blocks.current('bloom'), 3, 1)
  expect(blocks.current('bloom')).toBe(3)
  blocks.read('bloom', 3, 1, 7)
  expect(blocks.current('bloom')).toBe(1)
  blocks.read('bloom', 1, 1, 0.5)
  expect(blocks.current('bloom')).toBe(2)
  blocks.read('bloom', 2, 2, 0.51)
  expect(blocks.current('bloom')).toBe(2)
})

/** Reads until so many blocks were read, from a node that bears `most` at a time. Resolves how often it failed. */
function failuresWithin(total: number, most: number, kind: 'root' | 'bloom'): number {
  const blocks = createRangeBlocks()
  let failures = 0
  for (let read = 0; read < total; ) {
    const asked = blocks.current(kind)
    if (asked > most) {
      failures += 1
      blocks.failed(kind, asked)
    } else {
      blocks.read(kind, asked, asked, 0)
      read += asked
    }
  }
  return failures
}

test.each([1, 4, 9, 32, 100])('of a node that bears %i blocks at a time, few requests fail', (most) => {
  expect(failuresWithin(5_000, most, 'bloom')).toBeLessThan(30)
})

test.each([1, 4, 9])('near the head as well, where it bears %i', (most) => {
  expect(failuresWithin(1_000, most, 'root')).toBeLessThan(20)
})

test('what fails near the head says nothing of what is far from it', () => {
  const blocks = createRangeBlocks()
  const start = blocks.current('bloom')
  blocks.failed('root', 16)
  expect(blocks.current('root')).toBe(1)
  expect(blocks.current('bloom')).toBe(start)
})

test('three ranges are read at a time, and two where they are full of payments', () => {
  const blocks = createRangeBlocks()
  expect(blocks.atOnce()).toBe(3)
  blocks.read('bloom', 8, 8, 0.51)
  expect(blocks.atOnce()).toBe(2)
  blocks.read('bloom', 8, 8, 0.5)
  expect(blocks.atOnce()).toBe(3)
})

test.each(['failed', 'limited'] as const)('after one that %s they are read one at a time for a while', (how) => {
  const blocks = createRangeBlocks()
  if (how === 'failed') blocks.failed('root', 16)
  else blocks.limited()
  for (let index = 0; index < 8; index++) {
    expect(blocks.atOnce()).toBe(1)
    blocks.read('root', 1, 1, 0)
  }
  expect(blocks.atOnce()).toBe(3)
})
