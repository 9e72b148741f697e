import { expect, test } from 'vitest'
import { createRangeSize } from './node-limits.js'

/** Reads on until `blocks` are read or `most` requests were made; `works` is the node. */
function readOn(sizes: ReturnType<typeof createRangeSize>, works: (blocks: number) => boolean, most: number) {
  const requests: { blocks: number; ok: boolean }[] = []
  while (requests.length < most) {
    const blocks = sizes.current()
    const ok = works(blocks)
    requests.push({ blocks, ok })
    if (ok) sizes.noteSuccess(blocks)
    else sizes.noteFailure(blocks)
  }
  return requests
}
const fresh = () => createRangeSize({ start: 2_000, max: 10_000 })
const limitedTo = (limit: number) => (blocks: number) => blocks <= limit

test('grows by equal steps up to the maximum, and stays there', () => {
  const read = readOn(fresh(), () => true, 40).map(({ blocks }) => blocks)
  expect(read.slice(0, 4)).toEqual([2_000, 2_500, 3_000, 3_500])
  expect(read.at(-1)).toBe(10_000)
  expect(Math.max(...read)).toBe(10_000)
})

test.each([1, 7, 10, 500, 999, 1_000, 1_024, 1_999])(
  'finds a limit of %i blocks exactly, without a word from the node',
  (limit) => {
    const sizes = fresh()
    const requests = readOn(sizes, limitedTo(limit), 60)
    const rejected = requests.filter(({ ok }) => !ok).length
    expect(sizes.current()).toBe(limit)
    expect(rejected).toBeLessThanOrEqual(25)
    const last = requests.slice(-20)
    expect(last.filter(({ ok }) => !ok).length).toBeLessThanOrEqual(1)
    expect(last.every(({ ok, blocks }) => (ok ? blocks === limit : blocks > limit))).toBe(true)
  },
)

test('a ceiling is tried again rarely, and more rarely each time that it holds', () => {
  const sizes = fresh()
  readOn(sizes, limitedTo(800), 60)
  const requests = readOn(sizes, limitedTo(800), 1_000)
  const rejected = requests.flatMap(({ ok }, index) => (ok ? [] : [index]))
  expect(rejected.length).toBeGreaterThan(2)
  expect(rejected.length).toBeLessThan(8)
  const gaps = rejected.slice(1).map((at, index) => at - (rejected[index] ?? 0))
  expect(gaps).toEqual([...gaps].sort((a, b) => a - b))
})

test('a limit that is lifted is noticed', () => {
  const sizes = fresh()
  readOn(sizes, limitedTo(50), 60)
  readOn(sizes, () => true, 200)
  expect(sizes.current()).toBe(10_000)
})

test('a limit that falls while it is used is followed', () => {
  const sizes = fresh()
  readOn(sizes, () => true, 30)
  readOn(sizes, limitedTo(30), 60)
  expect(sizes.current()).toBe(30)
})

test('an outage changes neither the size nor its ceiling', () => {
  const sizes = fresh()
  readOn(sizes, () => true, 3)
  expect(sizes.current()).toBe(3_500)
  const askedSizes: number[] = []
  const notes: string[] = []
  for (let request = 0; request < 30; request++) {
    askedSizes.push(sizes.current())
    notes.push(sizes.noteFailure(sizes.current()))
  }
  expect(askedSizes.slice(0, 6)).toEqual([3_500, 3_000, 1, 3_500, 3_000, 1])
  expect(notes.slice(0, 3)).toEqual(['size', 'unsure', 'not-size'])
  expect(readOn(sizes, () => true, 3).map(({ blocks }) => blocks)).toEqual([3_500, 4_000, 4_500])
})

test('a failure that does not repeat leaves the size alone', () => {
  const sizes = fresh()
  expect(sizes.noteFailure(2_000)).toBe('unsure')
  expect(sizes.current()).toBe(1)
  sizes.noteSuccess(1)
  expect(sizes.current()).toBe(2_000)
  sizes.noteSuccess(2_000)
  expect(sizes.current()).toBe(2_500)
})

test('an outage that begins while the size falls restores the size', () => {
  const sizes = fresh()
  readOn(sizes, limitedTo(3_000), 40)
  const before = sizes.current()
  expect(before).toBe(3_000)
  sizes.noteFailure(before)
  sizes.noteSuccess(1)
  const askedSizes = readOn(sizes, () => false, 12).map(({ blocks }) => blocks)
  expect(askedSizes).toEqual([3_000, 1_500, 750, 375, 187, 93, 46, 23, 11, 5, 2, 1])
  expect(sizes.current()).toBe(before)
})

test('requests in flight together make the size fall once', () => {
  const sizes = fresh()
  sizes.noteFailure(2_000)
  sizes.noteFailure(2_000)
  sizes.noteFailure(2_000)
  expect(sizes.current()).toBe(1)
  sizes.noteSuccess(1)
  sizes.noteFailure(2_000)
  sizes.noteFailure(2_000)
  expect(sizes.current()).toBe(1_000)
  sizes.noteFailure(1_000)
  sizes.noteFailure(2_000)
  expect(sizes.current()).toBe(500)
})

test('a node that rejects by bytes is read with few rejections, through dense and sparse parts', () => {
  const sizes = fresh()
  let at = 0
  const rejected: number[] = []
  let requests = 0
  const toBytes = (from: number, blocks: number) => {
    const dense = Math.max(0, Math.min(from + blocks, 80_000) - Math.max(from, 40_000))
    return dense * 10_000 + (blocks - dense) * 10
  }
  while (at < 200_000) {
    const blocks = sizes.current()
    requests += 1
    if (toBytes(at, blocks) <= 5_000_000) {
      at += blocks
      sizes.noteSuccess(blocks)
    } else {
      rejected.push(at)
      sizes.noteFailure(blocks)
    }
  }
  expect(requests).toBeLessThan(200)
  expect(rejected.length).toBeLessThan(25)
  expect(sizes.current()).toBeGreaterThan(5_000)
})

test('small ranges near the head do not change large ones', () => {
  const sizes = fresh()
  for (let block = 0; block < 100; block++) sizes.noteSuccess(1)
  expect(sizes.current()).toBe(2_000)
})
