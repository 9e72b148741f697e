import { expect, it } from 'vitest'
import { createClosers } from './machine.js'

it('closes newest first, continues after a failure and rejects with the first one', async () => {
  const closers = createClosers()
  const closed: string[] = []
  closers.add('a', (name) => closed.push(name))
  closers.add('b', () => Promise.reject(new Error('b is stuck')))
  closers.add('c', async (name) => closed.push(name))
  await expect(closers.close()).rejects.toThrow('b is stuck')
  expect(closed).toEqual(['c', 'a'])
})

it('closes once, also after several calls', async () => {
  const closers = createClosers()
  let count = 0
  expect(closers.add('thing', () => (count += 1))).toBe('thing')
  await Promise.all([closers.close(), closers.close()])
  await closers.close()
  expect(count).toBe(1)
})
