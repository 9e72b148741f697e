import { expect, test } from 'vitest'
import { createMonotonicClock } from './runtime.js'

test('a steady clock stands still where its clock is set back, and then goes on', () => {
  let now = 1_000
  const clock = createMonotonicClock({ now: () => now, sleep: async () => undefined })
  const seen = [1_000, 1_500, 200, 300, 100, 2_000].map((at) => {
    now = at
    return clock.now()
  })
  expect(seen).toEqual([1_000, 1_500, 1_500, 1_600, 1_600, 3_500])
})
