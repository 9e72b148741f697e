/** Tests: the payments of a transaction, as the legacy look-up reads them. Source: docs/interface.md 4.3. @module */
import { expect } from 'vitest'
import { reach } from './checkpoints.js'
import { facts, hash, indexed, indexPayments, nextVersion, otherShop, primary } from './fixtures.js'
import type { StoreTest } from './subject.js'

const key = { chainId: 1, txHash: hash(1) }

export function transactionReadTests(test: StoreTest): void {
  test('all payments of a transaction are read by ordinal, whomever they name, and no other', async ({ store }) => {
    const given = [
      primary({ ordinal: 10 }),
      primary({ ordinal: 2, integrationAddress: otherShop }),
      primary({ ordinal: 0, integrationAddress: null }),
      { facts: facts({ ordinal: 1 }), primary: false },
    ]
    const { inserted } = await store.transaction((tx) => tx.upsertPayments(given))
    await indexed(store, { chainId: 2 })
    await indexed(store, { txHash: hash(2) })
    const { payments } = await store.payments.transaction(key)
    expect(payments.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 10])
    expect(payments).toEqual([...inserted].sort((a, b) => a.ordinal - b.ordinal))
  })

  test('a transaction is read as changed and mined again', async ({ store }) => {
    const payment = await indexed(store)
    const version = await nextVersion(store, payment)
    await store.transaction((tx) => tx.upsertPayments([primary({ blockNumber: 105 })]))
    const { payments } = await store.payments.transaction(key)
    expect(payments).toEqual([{ ...payment, blockNumber: 105, version, state: 'pending' }])
  })

  test('the height comes with the payments and without any: the newest of that chain', async ({ store }) => {
    expect(await store.payments.transaction(key)).toEqual({ payments: [], indexedTo: null })
    const payment = await indexed(store)
    expect(await store.payments.transaction(key)).toEqual({ payments: [payment], indexedTo: null })
    await store.transaction((tx) => tx.setCheckpoint(2, { blockNumber: 7, blockHash: hash(7) }))
    expect((await store.payments.transaction(key)).indexedTo).toBeNull()
    await reach(store, 90, 100)
    expect(await store.payments.transaction(key)).toEqual({ payments: [payment], indexedTo: 100 })
    expect(await store.payments.transaction({ chainId: 1, txHash: hash(9) })).toEqual({ payments: [], indexedTo: 100 })
    await reach(store, 95)
    expect((await store.payments.transaction(key)).indexedTo).toBe(95)
    await reach(store, 0)
    expect((await store.payments.transaction(key)).indexedTo).toBe(0)
  })

  test('the noted height of a chain that went back is read until the checkpoint passes it', async ({ store }) => {
    const read = async () => (await store.payments.transaction(key)).indexedTo
    const note = (height: number) =>
      store.transaction(async (tx) => {
        await tx.lockChain(1)
        await tx.setReached(1, height)
      })
    await note(7)
    expect(await read()).toBeNull()
    await reach(store, 90, 100, 95)
    await note(100)
    await store.transaction((tx) => tx.setCheckpoint(2, { blockNumber: 7, blockHash: hash(7) }))
    for (const [height, expected] of [
      [96, 100],
      [96, 100],
      [99, 100],
      [100, 100],
      [101, 101],
      [95, 95],
    ] as const) {
      await reach(store, height)
      expect([height, await read()]).toEqual([height, expected])
      expect(await store.transaction((tx) => tx.reached(1))).toBe(expected)
    }
    await note(101)
    await reach(store, 97, 96, 98)
    expect(await read()).toBe(98)
    await reach(store, 94)
    await note(98)
    await reach(store, 97, 99, 95)
    expect(await read()).toBe(95)
    expect(await store.transaction((tx) => tx.reached(2))).toBe(7)
    expect(await store.transaction((tx) => tx.reached(3))).toBeNull()
  })

  test('payments and height are of one moment, however often both change', async ({ store }) => {
    let written = false
    const write = async () => {
      for (let n = 1; n <= 30; n += 1)
        await store.transaction(async (tx) => {
          await tx.lockChain(1)
          await indexPayments(tx, [primary({ ordinal: n })])
          await tx.setCheckpoint(1, { blockNumber: n, blockHash: hash(n) })
        })
      written = true
    }
    const read = async () => {
      while (!written) {
        const { payments, indexedTo } = await store.payments.transaction(key)
        expect(payments).toHaveLength(indexedTo ?? 0)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all([write(), read(), read(), read()])
    expect((await store.payments.transaction(key)).payments).toHaveLength(30)
  })

  test('text that is no hash finds nothing', async ({ store }) => {
    await indexed(store)
    for (const txHash of ['', '0x', hash(1).toUpperCase(), `${hash(1)} `, `${hash(1)}' or 1 = 1`, '%'])
      expect((await store.payments.transaction({ chainId: 1, txHash })).payments).toEqual([])
  })
}
