import { expect, test } from 'vitest'
import { versionStoreConformance } from '../src/exports/conformance.js'
import { createMemoryVersionStore } from '../src/exports/index.js'
import { hold, nothing, other } from './payment.js'

versionStoreConformance(
  'memory',
  async ({ operation }) => {
    const notes: string[] = []
    return {
      store: createMemoryVersionStore(),
      write: (_, note) => operation(() => void notes.push(note)),
      notes: async () => notes,
    }
  },
  {
    test,
    excuse: [
      { test: 'a failed effect leaves none of its writes', reason: 'memory has no transaction to write through' },
      { test: 'a fault (lost after) at any operation of a first', reason: 'memory cannot undo a write' },
      { test: 'a fault (lost after) at any operation of a greater', reason: 'memory cannot undo a write' },
      ...['rejected', 'lost before', 'lost after'].flatMap((fault) => [
        { test: `a fault (${fault}) at any operation around a failing`, reason: 'memory cannot undo a write' },
        { test: `a fault (${fault}) at any operation of a duplicate`, reason: 'a duplicate in memory is no operation' },
      ]),
    ],
  },
)

test('payments do not wait for each other', async () => {
  const store = createMemoryVersionStore()
  const { delivery, release } = await hold(store)
  expect(await store.advance(other, nothing)).toBe('apply')
  release()
  expect(await delivery).toBe('apply')
})

test('the suite rejects to excuse a test that there is not', () => {
  const open = () => Promise.reject(new Error('not opened'))
  const excuse = [{ test: 'no such test', reason: 'none' }]
  expect(() => versionStoreConformance('typo', open, { test, excuse })).toThrow(RangeError)
})
