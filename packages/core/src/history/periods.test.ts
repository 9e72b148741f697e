import { expect, test } from 'vitest'
import type { RetentionPolicy } from './history-store.js'
import { checkPolicy, computeSegmentMs, findExpiredParts } from './retention.js'

const dayMs = 86_400_000
const keep: RetentionPolicy = { attempts: null, deliveries: null, updates: null, audit: null }

test('segments are a day long, less for shorter times, and 64 of them span the longest time', () => {
  expect(computeSegmentMs(keep)).toBeNull()
  expect(computeSegmentMs({ ...keep, audit: dayMs })).toBeNull()
  expect(computeSegmentMs({ ...keep, deliveries: 30 * dayMs })).toBe(dayMs)
  expect(computeSegmentMs({ ...keep, deliveries: 640 * dayMs, attempts: 2 * dayMs })).toBe(10 * dayMs)
  expect(computeSegmentMs({ ...keep, deliveries: 60_000 })).toBe(60_000)
})

test('where deliveries never end, segments are 30 days long: none of them is ever removed whole', () => {
  expect(computeSegmentMs({ ...keep, attempts: dayMs })).toBe(30 * dayMs)
  expect(computeSegmentMs({ ...keep, updates: 6_400 * dayMs })).toBe(100 * dayMs)
})

test('a segment ends for each kind by its own time, after the segment itself', () => {
  const segments = [
    { number: 0, begunAt: 0, endedAt: 10 * dayMs },
    { number: 1, begunAt: 10 * dayMs, endedAt: 11 * dayMs },
    { number: 2, begunAt: 11 * dayMs, endedAt: null },
  ]
  const ended = (policy: Partial<RetentionPolicy>, day: number) =>
    findExpiredParts(segments, { ...keep, ...policy }, day * dayMs).map(({ kind, part }) => `${kind} ${part}`)
  expect(ended({ deliveries: 5 * dayMs }, 14.9)).toEqual([])
  expect(ended({ deliveries: 5 * dayMs }, 15)).toEqual(['attempts 0', 'deliveries 0'])
  expect(ended({ deliveries: 5 * dayMs, attempts: dayMs }, 15)).toEqual(['attempts 0', 'attempts 1', 'deliveries 0'])
  expect(ended({ deliveries: dayMs, attempts: 9 * dayMs }, 12)).toEqual([
    ...['attempts 0', 'attempts 1'],
    ...['deliveries 0', 'deliveries 1'],
  ])
  expect(ended({ attempts: dayMs }, 999)).toEqual(['attempts 0', 'attempts 1'])
  expect(ended({ updates: 2 * dayMs }, 12)).toEqual(['updates 0'])
  expect(ended({}, 999)).toEqual([])
})

test.each([0, 59_999, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a time of %d ms is rejected', (ms) => {
  expect(() => checkPolicy({ ...keep, updates: ms })).toThrow(RangeError)
  expect(() => checkPolicy(keep)).not.toThrow()
})
