import { expect, test, vi } from 'vitest'
import { versionStoreConformance } from '../src/exports/conformance.js'
import { createMemoryVersionStore } from '../src/exports/index.js'

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
      { test: 'a fault (rejected) at any operation around a failing', reason: 'memory cannot undo a write' },
      { test: 'a fault (lost before) at any operation around a failing', reason: 'memory cannot undo a write' },
      { test: 'a fault (lost after) at any operation around a failing', reason: 'memory cannot undo a write' },
      { test: 'a fault (rejected) at any operation of a duplicate', reason: 'a duplicate in memory is no operation' },
      {
        test: 'a fault (lost before) at any operation of a duplicate',
        reason: 'a duplicate in memory is no operation',
      },
      { test: 'a fault (lost after) at any operation of a duplicate', reason: 'a duplicate in memory is no operation' },
    ],
  },
)

test('payments do not wait for each other', async () => {
  const store = createMemoryVersionStore()
  const key = { integrationAddress: 'a', chainId: '1' }
  let release = () => {}
  const slow = store.advance(
    { ...key, txHash: 'x', version: 1 },
    () => new Promise<void>((resolve) => (release = resolve)),
  )
  expect(await store.advance({ ...key, txHash: 'y', version: 1 }, () => undefined)).toBe('apply')
  release()
  expect(await slow).toBe('apply')
})

test('a delivery that comes while a waiting one runs still takes its turn', async () => {
  const store = createMemoryVersionStore()
  const payment = { integrationAddress: 'a', chainId: '1', txHash: 'x' }
  const log: string[] = []
  const gates = new Map<number, () => void>()
  const deliver = (version: number) =>
    store.advance({ ...payment, version }, async () => {
      log.push(`${version} begins`)
      await new Promise<void>((resolve) => gates.set(version, resolve))
      log.push(`${version} ends`)
    })
  const first = deliver(1)
  const second = deliver(2)
  await vi.waitUntil(() => gates.has(1))
  gates.get(1)?.()
  await first
  await vi.waitUntil(() => gates.has(2))
  const copy = deliver(2)
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  gates.get(2)?.()
  expect([await second, await copy]).toEqual(['apply', 'duplicate'])
  expect(log).toEqual(['1 begins', '1 ends', '2 begins', '2 ends'])
})

test('two stores share nothing', async () => {
  const payment = { integrationAddress: 'a', chainId: '1', txHash: 'x', version: 1 }
  for (const store of [createMemoryVersionStore(), createMemoryVersionStore()])
    expect(await store.advance(payment, () => undefined)).toBe('apply')
})

test('the suite rejects to excuse a test that there is not', () => {
  const open = () => Promise.reject(new Error('not opened'))
  const excuse = [{ test: 'no such test', reason: 'none' }]
  expect(() => versionStoreConformance('typo', open, { test, excuse })).toThrow(RangeError)
})
