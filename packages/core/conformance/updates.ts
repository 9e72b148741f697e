/** Tests: processor updates are kept under their id. @module */
import { expect } from 'vitest'
import type { StoredUpdate } from '../src/ports/store-transaction.js'
import { findUpdate, hash, insertUpdate, otherShop, update } from './fixtures.js'
import type { StoreTest } from './subject.js'

const waiting = (id: string, changes: Partial<StoredUpdate['update']> = {}): StoredUpdate => ({
  update: update({ id, ...changes }),
  outcome: 'waiting',
  reason: null,
  version: null,
})

/** Registers the tests. */
export function updateTests(test: StoreTest): void {
  test('an update comes back as it was stored, absent and null fields told apart', async ({ store }) => {
    const stored: StoredUpdate = {
      update: {
        id: '!~update',
        chainId: '10',
        txHash: hash(3),
        integrationAddress: otherShop,
        state: null,
        recipient: { title: 'U+0000: \u0000, lone: \ud800', subtitle: null },
      },
      outcome: 'refused',
      reason: 'state success cannot become pending \u0000',
      version: 4,
    }
    await store.transaction(async (tx) => {
      expect(await findUpdate(tx, '!~update')).toBeNull()
      expect(await insertUpdate(tx, stored)).toBe(true)
    })
    const found = await store.transaction((tx) => findUpdate(tx, '!~update'))
    expect(found).toStrictEqual(stored)
  })

  test('an id is stored once: the second insert resolves false and leaves the first', async ({ store }) => {
    const insert = (stored: StoredUpdate) => store.transaction((tx) => insertUpdate(tx, stored))
    expect(await insert(waiting('a'))).toBe(true)
    expect(await insert({ ...waiting('a', { state: 'failure' }), outcome: 'applied', version: 2 })).toBe(false)
    expect(await store.transaction((tx) => findUpdate(tx, 'a'))).toEqual(waiting('a'))
  })

  test('a refused second insert leaves its transaction usable', async ({ store }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting('a')))
    await store.transaction(async (tx) => {
      expect(await insertUpdate(tx, waiting('a'))).toBe(false)
      expect(await insertUpdate(tx, waiting('b'))).toBe(true)
    })
    expect(await store.transaction((tx) => findUpdate(tx, 'b'))).toEqual(waiting('b'))
  })

  test('ids differ by case', async ({ store }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting('Id')))
    expect(await store.transaction((tx) => findUpdate(tx, 'iD'))).toBeNull()
    expect(await store.transaction((tx) => insertUpdate(tx, waiting('iD')))).toBe(true)
  })

  test('waiting updates of the named transactions come in the order they were received', async ({ store }) => {
    for (const [id, n] of [
      ['z', 2],
      ['a', 1],
      ['m', 2],
      ['b', 3],
      ['c', 1],
    ] as const)
      await store.transaction((tx) => insertUpdate(tx, waiting(id, { txHash: hash(n) })))
    await store.transaction((tx) => insertUpdate(tx, waiting('other-chain', { chainId: '2', txHash: hash(2) })))
    const keys = [2, 1, 2, 7].map((n) => ({ chainId: 1, txHash: hash(n) }))
    const found = await store.transaction((tx) => tx.waitingUpdates(keys))
    expect(found.map(({ update: { id } }) => id)).toEqual(['z', 'a', 'm', 'c'])
  })

  test('a waiting update is found among 3,000 keys', async ({ store }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting('a', { txHash: hash(2_999) })))
    const keys = Array.from({ length: 3_000 }, (_, n) => ({ chainId: 1, txHash: hash(n) }))
    expect(await store.transaction((tx) => tx.waitingUpdates(keys))).toEqual([waiting('a', { txHash: hash(2_999) })])
  })

  test('a settled update waits no longer and says what became of it', async ({ store }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting('a')))
    await store.transaction((tx) => insertUpdate(tx, waiting('b')))
    const result = { outcome: 'applied', reason: null, version: 2 } as const
    await store.transaction((tx) => tx.settleUpdate('a', result))
    await store.transaction(async (tx) => {
      expect(await tx.waitingUpdates([{ chainId: 1, txHash: hash(1) }])).toEqual([waiting('b')])
      expect(await findUpdate(tx, 'a')).toEqual({ ...waiting('a'), ...result })
    })
  })
}
