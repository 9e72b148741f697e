/** The limits that the reader learns of one node: sizes of ranges and batches, and the rate of requests. */
import { expect, test } from 'vitest'
import { manualClock } from '../../test/manual-clock.js'
import type { RequestEnd, RpcOutcome } from './json-rpc.js'
import { createBatchSize, createRangeSize, createRateLimit } from './node-limits.js'

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

const calls = (count: number, method = 'eth_getTransactionReceipt') =>
  Array.from({ length: count }, () => ({ method, params: [] }))
const fine: RpcOutcome = { ok: true, result: null }
const rejected: RpcOutcome = { ok: false, code: -32_600, message: 'too many calls' }
const error = new Error('no answer')

function answered(count: number, outcome = fine, method?: string): RequestEnd {
  const outcomes = Array.from({ length: count }, () => outcome)
  return { kind: 'answered', calls: calls(count, method), ms: 1, outcomes }
}
const limited = (count: number): RequestEnd => ({ kind: 'limited', calls: calls(count), retryAfter: null, error })

test('a node that answers more than 25 calls at a time with an error for each gets about as many before long', () => {
  const size = createBatchSize(100)
  let rejectedOnes = 0
  for (let request = 0; request < 200; request += 1) {
    const count = size.current()
    if (count > 25) rejectedOnes += 1
    size.noteEnd(answered(count, count > 25 ? rejected : fine))
  }
  expect(size.current()).toBeGreaterThan(12)
  expect(size.current()).toBeLessThan(40)
  expect(rejectedOnes).toBeLessThan(50)
})

test('a node that accepts everything keeps the largest size, even after an outage', () => {
  const size = createBatchSize(100)
  for (const count of [100, 17, 1]) size.noteEnd({ kind: 'lost', calls: calls(count), error })
  expect(size.current()).toBe(100)
  size.noteEnd({ kind: 'lost', calls: calls(100), error })
  expect(size.current()).toBe(2)
  size.noteEnd(answered(2))
  expect(size.current()).toBe(100)
  size.noteEnd({ kind: 'reconnects' })
  expect(size.current()).toBe(100)
})

test('a size that the rate limit rejects before any answer falls at once, and stays', () => {
  const size = createBatchSize(100)
  const sizes: number[] = []
  for (let request = 0; request < 100; request += 1) {
    const count = size.current()
    sizes.push(count)
    size.noteEnd(count > 12 ? limited(count) : answered(count))
  }
  expect(sizes.slice(0, 4)).toEqual([100, 50, 25, 12])
  // Then the limit is approached by halves, and a larger size tried after 4, 8, 16 and 32 answers.
  expect(sizes.filter((count) => count > 12)).toEqual([100, 50, 25, 18, 15, 13, 37, 37, 37, 37])
  expect(sizes.slice(40).filter((count) => count === 12).length).toBeGreaterThan(57)
})

test('an occasional rate limit does not change a size that was answered before', () => {
  const size = createBatchSize(100)
  size.noteEnd(answered(100))
  for (let round = 0; round < 5; round += 1) {
    size.noteEnd(limited(100))
    size.noteEnd(limited(100))
    expect(size.current()).toBe(100)
    size.noteEnd(answered(100))
  }
})

test('answered small requests do not hide that large ones are never answered', () => {
  const size = createBatchSize(100)
  let rejected = 0
  for (let round = 0; round < 40; round += 1) {
    if (size.current() > 25) rejected += 1
    size.noteEnd(size.current() > 25 ? limited(size.current()) : answered(size.current()))
    size.noteEnd(answered(2))
  }
  expect(rejected).toBeLessThan(10)
})

test.each([1, 2])('a node that accepts %i at a time gets as many, and more once it accepts more', (most) => {
  const size = createBatchSize(100)
  const ask = (bears: number) => {
    const count = size.current()
    size.noteEnd(count > bears ? { kind: 'lost', calls: calls(count), error } : answered(count))
  }
  for (let request = 0; request < 30; request += 1) ask(most)
  expect(size.current()).toBe(most)
  for (let request = 0; request < 400; request += 1) ask(100)
  expect(size.current()).toBe(100)
})

test('a call that fails by itself does not change the size', () => {
  const size = createBatchSize(100)
  for (let round = 0; round < 20; round += 1) {
    size.noteEnd({ kind: 'lost', calls: [...calls(1, 'eth_chainId'), ...calls(1, 'eth_getLogs')], error })
    for (const count of [size.current(), 1]) size.noteEnd(answered(count, rejected))
  }
  expect(size.current()).toBe(100)
  size.noteEnd(answered(5, { ok: false, code: 3, message: 'execution reverted' }, 'eth_call'))
  size.noteEnd(answered(5, rejected, 'eth_getLogs'))
  expect(size.current()).toBe(100)
})

const now = Date.parse('2026-01-01T00:00:00Z')

test.each([
  ['2', 2_000],
  ['86400', 30_000],
  ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
  ['-1', 500],
  ['soon', 500],
  [null, 500],
])('a rejection with Retry-After %j is a wait of %j ms', (header, expected) => {
  const clock = manualClock(now)
  const limit = createRateLimit(clock)
  limit.noteRejection(header)
  expect(limit.resumesAt() - clock.now()).toBe(expected)
})

test('without a header the wait doubles from the third rejection on, up to 4 s, and begins again after an answer', async () => {
  const clock = manualClock()
  const limit = createRateLimit(clock)
  const waits: number[] = []
  for (let rejection = 0; rejection < 7; rejection++) {
    limit.noteRejection(null)
    waits.push(limit.resumesAt() - clock.now())
    await clock.advance(limit.resumesAt() - clock.now())
  }
  expect(waits).toEqual([500, 500, 1_000, 2_000, 4_000, 4_000, 4_000])
  limit.noteAnswer(clock.now())
  limit.noteRejection(null)
  expect(limit.resumesAt() - clock.now()).toBe(500)
})

test('requests that are rejected together count once, and the longest wait holds', async () => {
  const clock = manualClock()
  const limit = createRateLimit(clock)
  limit.noteRejection('3')
  limit.noteRejection(null)
  limit.noteRejection('1')
  expect(limit.resumesAt() - clock.now()).toBe(3_000)
  await clock.advance(3_000)
  limit.noteRejection(null)
  expect(limit.resumesAt() - clock.now()).toBe(500)
  await clock.advance(500)
  limit.noteRejection(null)
  expect(limit.resumesAt() - clock.now()).toBe(1_000)
})

test('of requests sent together, one that is answered shows that the wait before them was long enough', async () => {
  const clock = manualClock()
  const limit = createRateLimit(clock)
  for (let time = 0; time < 6; time++) {
    const sentAt = clock.now()
    limit.noteRejection(null)
    limit.noteAnswer(sentAt)
    expect(limit.resumesAt() - clock.now()).toBe(500)
    await clock.advance(500)
  }
})

test('an answer to a request from before the rejection does not end the pause', async () => {
  const clock = manualClock()
  const limit = createRateLimit(clock)
  const sentAt = clock.now()
  for (let time = 0; time < 2; time++) {
    limit.noteRejection(null)
    limit.noteAnswer(sentAt)
    await clock.advance(500)
  }
  limit.noteRejection(null)
  expect(limit.resumesAt() - clock.now()).toBe(1_000)
})
