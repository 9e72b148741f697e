/** Tests: processor updates are stored under their id. @module */

import type { NewUpdate, StoredUpdate } from '@payment-integration/core/internal'
import { expect } from 'vitest'
import { decided, findUpdate, hash, indexed, insertUpdate, otherShop, update, waiting } from './fixtures.js'
import type { StoreTest } from './subject.js'

/** The record of an update, without its content. */
const getStored = ({ update: { id }, fingerprint, outcome, reason, version }: NewUpdate): StoredUpdate => {
  return { id, fingerprint, outcome, reason, version }
}

/** An update with every kind of field and text. */
const elaborate = update({
  id: '!~update',
  chainId: '10',
  txHash: hash(3),
  integrationAddress: otherShop,
  state: null,
  recipient: { title: 'U+0000: \u0000, lone: \ud800', subtitle: null },
})
export function updateTests(test: StoreTest): void {
  test('the result of an update is found by its id, with its fingerprint', async ({ store }) => {
    const payment = await indexed(store)
    const refused = decided(payment, {
      update: elaborate,
      fingerprint: `0x00${'ff'.repeat(15)}`,
      outcome: 'refused',
      reason: 'state success cannot become pending \u0000',
      version: 4,
    })
    await store.transaction(async (tx) => {
      expect(await findUpdate(tx, '!~update')).toBeNull()
      expect(await insertUpdate(tx, refused)).toBe(true)
    })
    expect(await store.transaction((tx) => findUpdate(tx, '!~update'))).toStrictEqual(getStored(refused))
  })

  test('a waiting update is read as it was stored: an absent field stays absent, null stays null', async ({
    store,
  }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting(elaborate)))
    const keys = [{ chainId: 10, txHash: hash(3) }]
    expect(await store.transaction((tx) => tx.waitingUpdates(keys))).toStrictEqual([elaborate])
  })

  test('an id is stored once: the second insert resolves false and leaves the first', async ({ store }) => {
    const payment = await indexed(store)
    const insert = (given: NewUpdate) => store.transaction((tx) => insertUpdate(tx, given))
    const first = waiting({ id: 'a' })
    expect(await insert(first)).toBe(true)
    const second = decided(payment, { update: update({ id: 'a' }), fingerprint: `0x${'a2'.repeat(16)}` })
    expect(await insert(second)).toBe(false)
    expect(await store.transaction((tx) => findUpdate(tx, 'a'))).toEqual(getStored(first))
  })

  test('a rejected second insert leaves its transaction usable', async ({ store }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting({ id: 'a' })))
    await store.transaction(async (tx) => {
      expect(await insertUpdate(tx, waiting({ id: 'a' }))).toBe(false)
      expect(await insertUpdate(tx, waiting({ id: 'b' }))).toBe(true)
    })
    expect(await store.transaction((tx) => findUpdate(tx, 'b'))).toEqual(getStored(waiting({ id: 'b' })))
  })

  test('ids differ by case', async ({ store }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting({ id: 'Id' })))
    expect(await store.transaction((tx) => findUpdate(tx, 'iD'))).toBeNull()
    expect(await store.transaction((tx) => insertUpdate(tx, waiting({ id: 'iD' })))).toBe(true)
  })

  test('waiting updates of the named transactions come in the order they were received', async ({ store }) => {
    for (const [id, n] of [
      ['z', 2],
      ['a', 1],
      ['m', 2],
      ['b', 3],
      ['c', 1],
    ] as const)
      await store.transaction((tx) => insertUpdate(tx, waiting({ id, txHash: hash(n) })))
    await store.transaction((tx) => insertUpdate(tx, waiting({ id: 'other-chain', chainId: '2', txHash: hash(2) })))
    const keys = [2, 1, 2, 7].map((n) => ({ chainId: 1, txHash: hash(n) }))
    const found = await store.transaction((tx) => tx.waitingUpdates(keys))
    expect(found.map(({ id }) => id)).toEqual(['z', 'a', 'm', 'c'])
  })

  test('a waiting update is found among 3,000 keys', async ({ store }) => {
    const own = waiting({ id: 'a', txHash: hash(2_999) })
    await store.transaction((tx) => insertUpdate(tx, own))
    const keys = Array.from({ length: 3_000 }, (_, n) => ({ chainId: 1, txHash: hash(n) }))
    expect(await store.transaction((tx) => tx.waitingUpdates(keys))).toEqual([own.update])
  })

  test('settled updates wait no longer, each with its own result', async ({ store }) => {
    const payment = await indexed(store)
    for (const id of ['a', 'b', 'c']) await store.transaction((tx) => insertUpdate(tx, waiting({ id })))
    const results = [
      { id: 'c', paymentId: payment.id, outcome: 'refused', reason: 'no', version: null },
      { id: 'a', paymentId: payment.id, outcome: 'applied', reason: null, version: 2 },
    ] as const
    await store.transaction((tx) => tx.settleUpdates(results))
    await store.transaction(async (tx) => {
      expect(await tx.waitingUpdates([{ chainId: 1, txHash: hash(1) }])).toEqual([update({ id: 'b' })])
      for (const { paymentId, ...result } of results)
        expect(await findUpdate(tx, result.id)).toEqual({ ...getStored(waiting()), ...result })
    })
    const shown = await store.console.updates({ paymentIds: [payment.id], limit: 10 })
    expect(shown.map((each) => [each.id, each.update])).toEqual([
      ['a', null],
      ['c', update({ id: 'c' })],
    ])
  })

  test('700 updates are settled at once', async ({ store }) => {
    const payment = await indexed(store)
    const ids = Array.from({ length: 700 }, (_, n) => `u${n}`)
    await store.transaction((tx) => tx.insertUpdates(ids.map((id) => waiting({ id }))))
    const result = { paymentId: payment.id, outcome: 'unchanged', reason: null } as const
    await store.transaction((tx) => tx.settleUpdates(ids.map((id, version) => ({ ...result, id, version }))))
    const found = await store.transaction((tx) => tx.findUpdates(ids))
    expect(new Map(found.map(({ id, version }) => [id, version]))).toEqual(new Map(ids.map((id, n) => [id, n])))
  })

  test('settling an update that does not wait is rejected, and others of the call still wait', async ({ store }) => {
    const payment = await indexed(store)
    await store.transaction(async (tx) => {
      await insertUpdate(tx, waiting({ id: 'a' }))
      await insertUpdate(tx, decided(payment, { update: update({ id: 'b' }), version: 2 }))
    })
    const result = { paymentId: payment.id, outcome: 'unchanged', reason: null, version: 1 } as const
    for (const id of ['b', 'c']) {
      const settling = store.transaction((tx) => tx.settleUpdates(['a', id].map((each) => ({ ...result, id: each }))))
      await expect(settling).rejects.toThrow(RangeError)
    }
    const left = await store.transaction((tx) => tx.waitingUpdates([{ chainId: 1, txHash: hash(1) }]))
    expect(left.map(({ id }) => id)).toEqual(['a'])
  })
}
