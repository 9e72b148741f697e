import { expect, test } from 'vitest'
import { createRangeBlocks } from './range-blocks.js'

test('ranges double while they are not full, up to a bound', () => {
  const blocks = createRangeBlocks()
  const start = blocks.current()
  blocks.read(start, start, 0.5)
  expect(blocks.current()).toBe(start * 2)
  for (let index = 0; index < 10; index++) blocks.read(blocks.current(), blocks.current(), 0)
  expect(blocks.current()).toBe(1_000)
})

test('a range that is full enough, or shorter than the size, makes none longer', () => {
  const blocks = createRangeBlocks()
  const start = blocks.current()
  blocks.read(start, start, 0.51)
  blocks.read(start - 1, start - 1, 0)
  expect(blocks.current()).toBe(start)
})

test('a range that was cut gives the size of the next, which is at least one block', () => {
  const blocks = createRangeBlocks()
  blocks.read(blocks.current(), 3, 1)
  expect(blocks.current()).toBe(3)
  blocks.read(3, 1, 7)
  expect(blocks.current()).toBe(1)
})

test('what no endpoint answers is asked for in a quarter of the blocks, down to one', () => {
  const blocks = createRangeBlocks()
  const start = blocks.current()
  blocks.failed()
  expect(blocks.current()).toBe(start / 4)
  for (let index = 0; index < 10; index++) blocks.failed()
  expect(blocks.current()).toBe(1)
})

test('three ranges are read at a time, and two where they are full of payments', () => {
  const blocks = createRangeBlocks()
  expect(blocks.atOnce()).toBe(3)
  blocks.read(128, 128, 0.5)
  expect(blocks.atOnce()).toBe(3)
  blocks.read(256, 80, 1)
  expect(blocks.atOnce()).toBe(2)
  blocks.read(80, 80, 0)
  expect(blocks.atOnce()).toBe(3)
})
