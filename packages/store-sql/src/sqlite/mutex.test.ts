import { expect, test } from 'vitest'
import { createMutex } from './sqlite-file.js'

test('one caller at a time has the mutex, in the order of the requests', async () => {
  const turn = createMutex()
  const events: string[] = []
  await Promise.all(
    [1, 2, 3].map(async (n) => {
      const release = await turn()
      events.push(`start ${n}`)
      await new Promise((resolve) => setImmediate(resolve))
      events.push(`end ${n}`)
      release()
    }),
  )
  expect(events).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3'])
})
