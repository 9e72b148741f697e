import { expect, it } from 'vitest'
import { cacheAnswer } from './cached-answer.js'

it('a failure is not cached, also when the computation throws before it returns a promise', async () => {
  let calls = 0
  const compute = () => {
    if (++calls === 2) throw new Error('away')
    return Promise.resolve(calls)
  }
  let now = 0
  const answer = cacheAnswer(compute, { now: () => (now += 1_000) })
  expect(await answer()).toBe(1)
  await expect(answer()).rejects.toThrow('away')
  expect(await answer()).toBe(3)
})
