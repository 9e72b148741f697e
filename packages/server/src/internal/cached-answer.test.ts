import { expect, it } from 'vitest'
import { cacheAnswer } from './cached-answer.js'

it('a failure is not cached, also when the computation throws before it returns a promise', async () => {
  let calls = 0
  const compute = () => {
    if (++calls === 2) throw new Error('away')
    return Promise.resolve(calls)
  }
  const answer = cacheAnswer(compute, { forMs: 0, now: () => 0 })
  expect(await answer()).toBe(1)
  await expect(answer()).rejects.toThrow('away')
  expect(await answer()).toBe(3)
})
