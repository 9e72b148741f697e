import { describe, expect, test } from 'vitest'
import { simulateSeed } from './simulate-seed.js'

describe('a seed', () => {
  test('has the same result each time', async () => {
    const seeds = Array.from({ length: 12 }, (_, index) => index + 1)
    const reports = []
    for (const seed of [...seeds, ...seeds]) reports.push(await simulateSeed(seed))
    expect(reports.slice(seeds.length)).toEqual(reports.slice(0, seeds.length))
    expect(reports.filter(({ faults, forks }) => faults.size > 0 && forks > 0).length).toBeGreaterThan(3)
  })

  test('takes almost no real time, and restores time and network of the process', async () => {
    const before = [setTimeout, Date.now, performance.now]
    const startedAt = performance.now()
    const { virtualMs } = await simulateSeed(5)
    expect(performance.now() - startedAt).toBeLessThan(virtualMs)
    expect([setTimeout, Date.now, performance.now]).toEqual(before)
  })
})
