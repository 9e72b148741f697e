import { expect, test } from 'vitest'
import { createRangeSizing, type RangeKind, type RangeResult, type RangeSizing } from './range-sizing.js'

function read(blocks: RangeSizing, kind: RangeKind, range: Partial<RangeResult>): void {
  const { requested = 8 } = range
  const counts = { candidates: 0, wholeBlocks: 0, transactions: 0, receivedBytes: 0, rejectedRequests: 0 }
  blocks.noteResult(kind, { node: 'one', requested, returned: requested, fillFraction: 0, ...counts, ...range })
}

test('ranges grow by steps while they are not full, up to a bound', () => {
  const blocks = createRangeSizing()
  const start = blocks.maxBlocks('bloom')
  read(blocks, 'bloom', { requested: start, fillFraction: 0.5 })
  expect(blocks.maxBlocks('bloom')).toBe(start * 2)
  for (let time = 0; time < 20; time++) read(blocks, 'bloom', { requested: blocks.maxBlocks('bloom') })
  expect(blocks.maxBlocks('bloom')).toBe(1_000)
})

test('a shortened range sets the size of the next, at least one block, which doubles while ranges are not full', () => {
  const blocks = createRangeSizing()
  read(blocks, 'bloom', { requested: blocks.maxBlocks('bloom'), returned: 3, fillFraction: 1 })
  expect(blocks.maxBlocks('bloom')).toBe(3)
  read(blocks, 'bloom', { requested: 3, returned: 1, fillFraction: 7 })
  expect(blocks.maxBlocks('bloom')).toBe(1)
  read(blocks, 'bloom', { requested: 1, fillFraction: 0.5 })
  expect(blocks.maxBlocks('bloom')).toBe(2)
  read(blocks, 'bloom', { requested: 2, fillFraction: 0.51 })
  expect(blocks.maxBlocks('bloom')).toBe(2)
})

/** Reads until so many blocks were read, from a node that bears `most` at a time. Resolves how often it failed. */
function failuresWithin(total: number, most: number, kind: 'root' | 'bloom'): number {
  const blocks = createRangeSizing()
  let failures = 0
  for (let count = 0; count < total; ) {
    const requested = blocks.maxBlocks(kind)
    if (requested > most) {
      failures += 1
      blocks.noteFailure(kind, requested, 'one')
    } else {
      read(blocks, kind, { requested })
      count += requested
    }
  }
  return failures
}

test.each([1, 4, 9, 32, 100])('of a node that accepts %i blocks at a time, few requests fail', (most) => {
  expect(failuresWithin(5_000, most, 'bloom')).toBeLessThan(30)
})

test.each([1, 4, 9])('and near the head, if it accepts %i', (most) => {
  expect(failuresWithin(1_000, most, 'root')).toBeLessThan(20)
})

test('failures near the head do not change the ranges far from it', () => {
  const blocks = createRangeSizing()
  const start = blocks.maxBlocks('bloom')
  blocks.noteFailure('root', 16, 'one')
  expect(blocks.maxBlocks('root')).toBe(1)
  expect(blocks.maxBlocks('bloom')).toBe(start)
})

const mebibyte = 1_048_576

test('the first range is read alone, then two to eight in parallel, up to 24 MiB of answers', () => {
  const blocks = createRangeSizing()
  expect(blocks.parallelRanges()).toBe(1)
  let receivedBytes = 0
  const readBytes = (bytes: number) => {
    receivedBytes += bytes
    read(blocks, 'bloom', { receivedBytes })
  }
  readBytes(6 * mebibyte)
  expect(blocks.parallelRanges()).toBe(4)
  for (let time = 0; time < 20; time++) readBytes(100_000)
  expect(blocks.parallelRanges()).toBe(8)
  for (let time = 0; time < 20; time++) readBytes(40 * mebibyte)
  expect(blocks.parallelRanges()).toBe(2)
})

test('three ranges are read in parallel if bytes are not counted', () => {
  const blocks = createRangeSizing()
  read(blocks, 'bloom', {})
  expect(blocks.parallelRanges()).toBe(3)
})

test.each(['failed', 'limited'] as const)('after one that %s they are read one at a time for a while', (how) => {
  const blocks = createRangeSizing()
  if (how === 'failed') blocks.noteFailure('root', 16, 'one')
  else blocks.noteRateLimit('one')
  for (let time = 0; time < 8; time++) {
    expect(blocks.parallelRanges()).toBe(1)
    read(blocks, 'root', { requested: 1 })
  }
  expect(blocks.parallelRanges()).toBe(3)
})

test('a range with rejected requests halves the parallel ranges, and each other range adds one', () => {
  const blocks = createRangeSizing()
  read(blocks, 'bloom', { receivedBytes: 1 })
  expect(blocks.parallelRanges()).toBe(8)
  read(blocks, 'bloom', { receivedBytes: 2, rejectedRequests: 1 })
  expect(blocks.parallelRanges()).toBe(4)
  read(blocks, 'bloom', { receivedBytes: 3, rejectedRequests: 2 })
  expect(blocks.parallelRanges()).toBe(2)
  read(blocks, 'bloom', { receivedBytes: 4, rejectedRequests: 2 })
  expect(blocks.parallelRanges()).toBe(3)
})

test('each node has its own number of parallel ranges', () => {
  const blocks = createRangeSizing()
  read(blocks, 'bloom', { receivedBytes: 6 * mebibyte })
  blocks.noteRateLimit('two')
  expect(blocks.parallelRanges()).toBe(1)
  read(blocks, 'bloom', { receivedBytes: 12 * mebibyte })
  expect(blocks.parallelRanges()).toBe(4)
})

test.each([
  ['all where three of four blocks mostly pay', { candidates: 8, wholeBlocks: 6 }, 'all'],
  ['candidates where three of four of these mostly pay', { candidates: 4, wholeBlocks: 3 }, 'candidates'],
  ['none where they hold other things', { candidates: 8, wholeBlocks: 5 }, 'none'],
  ['none where nothing is paid', { candidates: 0, wholeBlocks: 0 }, 'none'],
] as const)('blocks are read whole at once: %s', (_, counts, whole) => {
  const blocks = createRangeSizing()
  expect(blocks.plan().withTransactions).toBe('none')
  read(blocks, 'bloom', { requested: 8, ...counts, transactions: counts.candidates * 25 })
  expect(blocks.plan()).toEqual({ withTransactions: whole, transactionsPerBlock: counts.candidates === 0 ? 1 : 25 })
})
