import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { startTimeLimit } from './answers.js'

test('a time limit fires though nothing but its listener refers to it and memory is collected', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const fired = Array.from(
    { length: 20 },
    () =>
      new Promise<string>((resolve) => {
        const { signal } = startTimeLimit(50, new AbortController().signal)
        signal.addEventListener('abort', () => resolve(signal.reason.name))
      }),
  )
  collect()
  await new Promise(setImmediate)
  collect()
  expect(new Set(await Promise.all(fired))).toEqual(new Set(['TimeoutError']))
})

test("a time limit aborts with the caller's signal and its reason", async () => {
  const caller = new AbortController()
  const limits = [startTimeLimit(60_000, caller.signal)]
  caller.abort(new Error('enough'))
  limits.push(startTimeLimit(60_000, caller.signal))
  for (const limit of limits) {
    expect(limit.signal.reason).toEqual(new Error('enough'))
    await expect(limit.over).rejects.toThrow('enough')
    limit.end()
  }
})
