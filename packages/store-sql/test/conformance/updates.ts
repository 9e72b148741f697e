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
    const rejected = decided(payment, {
      update: elaborate,
      fingerprint: `0x00${'ff'.repeat(15)}`,
      outcome: 'rejected',
      reason: 'state success cannot become pending \u0000',
      version: 4,
    })
    await store.transaction(async (tx) => {
      expect(await findUpdate(tx, '!~update')).toBeNull()
      expect(await insertUpdate(tx, rejected)).toBe(true)
    })
    expect(await store.transaction((tx) => findUpdate(tx, '!~update'))).toStrictEqual(getStored(rejected))
  })

  test('a waiting update is read as stored: an absent field stays absent, null stays null', async ({ store }) => {
    await store.transaction((tx) => insertUpdate(tx, waiting(elaborate)))
    const keys = [{ chainId: 10, txHash: hash(3) }]
    expect(await store.transaction((tx) => tx.waitingUpdates(keys))).toStrictEqual([elaborate])
  })

  test('an id is stored once, by its case; a second insert leaves its transaction usable', async ({ store }) => {
    const payment = await indexed(store)
    const first = waiting({ id: 'a' })
    await store.transaction((tx) => insertUpdate(tx, first))
    const second = decided(payment, { update: update({ id: 'a' }), fingerprint: `0x${'a2'.repeat(16)}` })
    await store.transaction(async (tx) => {
      expect(await findUpdate(tx, 'A')).toBeNull()
      for (const [given, isNew] of [[second, false] as const, [waiting({ id: 'A' }), true] as const])
        expect(await insertUpdate(tx, given)).toBe(isNew)
    })
    const found = await store.transaction((tx) => Promise.all(['a', 'A'].map((id) => findUpdate(tx, id))))
    expect(found).toEqual([getStored(first), getStored(waiting({ id: 'A' }))])
  })

  test('waiting updates of the named transactions come in the order they were received', async ({ store }) => {
    const given = Object.entries({ z: 2, a: 1, m: 2, b: 3, c: 1 }).map(([id, n]) => ({ id, txHash: hash(n) }))
    for (const each of [...given, { id: 'other-chain', chainId: '2', txHash: hash(2) }])
      await store.transaction((tx) => insertUpdate(tx, waiting(each)))
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
      { id: 'c', paymentId: payment.id, outcome: 'rejected', reason: 'no', version: null },
      { id: 'a', paymentId: payment.id, outcome: 'applied', reason: null, version: 2 },
    ] as const
    await store.transaction((tx) => tx.settleUpdates(results))
    await store.transaction(async (tx) => {
      expect(await tx.waitingUpdates([{ chainId: 1, txHash: hash(1) }])).toEqual([update({ id: 'b' })])
      for (const { paymentId, ...result } of results)
        expect(await findUpdate(tx, result.id)).toEqual({ ...getStored(waiting()), ...result })
    })
    const shown = await store.console.updates({ paymentIds: [payment.id], limit: 10 })
    expect(shown.map(({ id }) => id)).toEqual(['a', 'c'])
    expect(shown.map((each) => each.update)).toEqual([null, update({ id: 'c' })])
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
