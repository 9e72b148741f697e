import { expect, it } from 'vitest'
import { isStoppedEarly } from './stopped-early.js'

it('a start that fails without a signal failed by itself', async () => {
  expect(await isStoppedEarly(new AbortController().signal, new Error('The port is in use.'))).toBe(false)
})

it('a start that fails after a signal was told to stop', async () => {
  expect(await isStoppedEarly(AbortSignal.abort(), new Error('The port is in use.'))).toBe(true)
})

it('a start whose compiler is gone waits for the signal that ended it', async () => {
  const stop = new AbortController()
  const judged = isStoppedEarly(stop.signal, new Error('The service is no longer running'))
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  expect(await judged).toBe(true)
})
