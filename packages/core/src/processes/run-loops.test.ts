import { expect, test } from 'vitest'
import type { Loop } from '../values.js'
import { runLoops } from './processes.js'

/** A loop that drains for one turn once it is told to end. */
function loop(ended: string[], name: string): Loop {
  return {
    run: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => setImmediate(() => resolve(void ended.push(name))), { once: true })
      }),
  }
}

test('the loops run until the signal aborts, and are drained', async () => {
  const ended: string[] = []
  const stop = new AbortController()
  const run = runLoops([loop(ended, 'a'), loop(ended, 'b')], stop.signal)
  stop.abort()
  await run
  expect(ended).toEqual(['a', 'b'])
})

test('a loop that fails ends the others, and is reported once they are drained', async () => {
  const ended: string[] = []
  const failing: Loop = { run: () => Promise.reject(new Error('broken')) }
  await expect(runLoops([loop(ended, 'a'), failing], new AbortController().signal)).rejects.toThrow('broken')
  expect(ended).toEqual(['a'])
})
