import { expect, test } from 'vitest'
import { manualClock } from '../../test/manual-clock.js'
import { createRateLimit } from './node-limits.js'

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
