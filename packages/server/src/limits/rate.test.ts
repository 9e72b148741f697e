import { describe, expect, it } from 'vitest'
import { createRate } from './request-limits.js'

function setup(count: number, periodMs: number, maxKeys?: number) {
  let at = 1_000_000.123
  const rate = createRate({ count, periodMs, maxKeys, clock: { now: () => at } })
  function pass(ms: number): void {
    at += ms
  }
  /** How many of these simultaneous events are counted. */
  const counted = (key: string, times: number) =>
    Array.from({ length: times }, () => rate.take(key)).filter((wait) => wait === 0).length
  return { ...rate, pass, counted }
}

describe('a rate', () => {
  it.each([1, 2, 3, 7, 10, 999])('of %i a second allows so many at once, and so many in each later second', (count) => {
    const { counted, pass } = setup(count, 1_000)
    for (let second = 0; second < 5; second += 1) {
      expect(counted('a', count + 5)).toBe(count)
      pass(1_000)
    }
  })

  it('recovers evenly: one event after its share of the period', () => {
    const { counted, take, pass } = setup(4, 1_000)
    counted('a', 4)
    expect(take('a')).toBeCloseTo(250)
    pass(249)
    expect(take('a')).toBeCloseTo(1)
    pass(1)
    expect(counted('a', 2)).toBe(1)
  })

  it('returns the wait without counting, and a rejected event makes no wait longer', () => {
    const { waitMs, take, counted, pass } = setup(2, 60_000)
    expect([waitMs('a'), waitMs('a')]).toEqual([0, 0])
    counted('a', 2)
    for (let times = 0; times < 100; times += 1) take('a')
    expect(waitMs('a')).toBeCloseTo(30_000)
    pass(30_000)
    expect(waitMs('a')).toBe(0)
  })

  it('is the same with and without other keys, period after period', () => {
    const { counted, pass } = setup(2, 1_000)
    let own = 0
    for (let step = 0; step < 100; step += 1) {
      own += counted('own', 1)
      counted(`other ${step}`, 1)
      pass(100)
    }
    // Two at once, and one in each further half second of ten.
    expect(own).toBe(2 + 19)
  })

  it('of more keys than fit in memory accepts the newest, and drops only the keys unused for longest', () => {
    const { counted } = setup(1, 60_000, 100)
    counted('old', 1)
    for (let each = 0; each < 10_000; each += 1) expect(counted(`key ${each}`, 1)).toBe(1)
    expect([counted('key 9999', 1), counted('key 9951', 1), counted('old', 1)]).toEqual([0, 0, 1])
  })
})
