/**
 * Tests: payments that leave the chain, are dropped and come back. Source: docs/decisions/reorganizations.md.
 * @module
 */
import type { Store, StoredPayment } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import type { StoreTest } from './subject.js'

const { facts, getStatus, hash, indexAll, indexed, listed, numbered, otherShop, primary, setStatus, shop } = fixtures

const numbers = (payments: readonly StoredPayment[]) => payments.map(({ txHash }) => Number(txHash))
const overdue = (store: Store, atOrBelow: number, limit = 100) =>
  store.transaction(async (tx) => numbers(await tx.overduePayments({ chainId: 1, atOrBelow, limit })))

async function drop(store: Store, { id, state }: StoredPayment): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.markOffChain([id])
    await tx.setDropped(id, { formerState: state })
  })
}
export function droppingTests(test: StoreTest): void {
  test('the payments that are named leave the chain, and no others', async ({ store }) => {
    const ids = (await indexAll(store, numbered(3, 1))).map(({ id }) => id)
    await store.transaction((tx) => tx.markOffChain([]))
    await store.transaction((tx) => tx.markOffChain([2, 0, 0].map((n) => ids[n] ?? '')))
    const offChain = (await listed(store)).map((payment) => [Number(payment.txHash), payment.offChain])
    expect(Object.fromEntries(offChain)).toEqual({ 1: true, 2: false, 3: true })
  })

  test('payments of a range of blocks are read by block and log, of any integration and state', async ({ store }) => {
    const at = (n: number, blockNumber: number, logIndex: number) => ({ txHash: hash(n), blockNumber, logIndex })
    await store.transaction((tx) =>
      tx.upsertPayments([
        primary(at(1, 22, 0)),
        primary({ ...at(2, 20, 9), integrationAddress: null }),
        { facts: facts({ ...at(3, 20, 10), integrationAddress: otherShop }), primary: false },
        primary(at(4, 20, 2)),
        primary(at(5, 19, 0)),
        primary(at(6, 23, 0)),
        primary({ ...at(7, 21, 0), chainId: 2 }),
      ]),
    )
    await store.transaction((tx) => tx.markOffChainAbove(1, 21))
    const found = await store.transaction((tx) => tx.paymentsInBlocks(1, 20, 22))
    expect(numbers(found)).toEqual([4, 2, 3, 1])
    expect(found.map(({ offChain }) => offChain)).toEqual([false, false, false, true])
    expect(found[0]).toEqual(await listed(store).then((all) => all.find(({ id }) => id === found[0]?.id)))
    expect(await store.transaction((tx) => tx.paymentsInBlocks(1, 24, 30))).toEqual([])
  })

  test('payments off one chain are named until they are dropped or on the chain again', async ({ store }) => {
    const one = await indexed(store, { txHash: hash(1) })
    const two = await indexed(store, { txHash: hash(2), integrationAddress: null })
    const other = await indexed(store, { txHash: hash(3), chainId: 2 })
    await indexed(store, { txHash: hash(4) })
    const named = async () =>
      (await store.transaction((tx) => tx.offChainPayments(1)))
        .map(({ txHash, integrationAddress }) => ({ txHash, integrationAddress }))
        .sort((a, b) => (a.txHash < b.txHash ? -1 : 1))
    expect(await named()).toEqual([])
    await store.transaction((tx) => tx.markOffChain([one.id, two.id, other.id]))
    expect(await named()).toEqual([
      { txHash: hash(1), integrationAddress: shop },
      { txHash: hash(2), integrationAddress: null },
    ])
    await drop(store, one)
    expect(await named()).toEqual([{ txHash: hash(2), integrationAddress: null }])
  })

  test('payments off the chain are overdue up to a height, by block, until they are dropped', async ({ store }) => {
    for (const blockNumber of [24, 21, 23, 22]) await indexed(store, { txHash: hash(blockNumber), blockNumber })
    await indexed(store, { chainId: 2, txHash: hash(21), blockNumber: 21 })
    await store.transaction((tx) =>
      tx.upsertPayments([{ facts: facts({ txHash: hash(25), blockNumber: 22 }), primary: false }]),
    )
    expect(await overdue(store, 100)).toEqual([])
    await store.transaction(async (tx) => {
      await tx.markOffChainAbove(1, 20)
      await tx.markOffChainAbove(2, 20)
    })
    expect(await overdue(store, 100)).toEqual([21, 22, 25, 23, 24])
    expect(await overdue(store, 22)).toEqual([21, 22, 25])
    expect(await overdue(store, 100, 2)).toEqual([21, 22])
    const [first] = await store.transaction((tx) => tx.overduePayments({ chainId: 1, atOrBelow: 22, limit: 1 }))
    await store.transaction((tx) => tx.setDropped(first?.id ?? '', { formerState: null }))
    expect(await overdue(store, 22)).toEqual([22, 25])
    await store.transaction((tx) => tx.upsertPayments([primary({ txHash: hash(22), blockNumber: 26 })]))
    expect(await overdue(store, 100)).toEqual([25, 23, 24])
  })

  for (const formerState of [null, 'success', 'refund_failure'] as const)
    test(`a payment dropped in state ${formerState} says so in each read until the note is gone`, async ({ store }) => {
      const payment = await indexed(store)
      await store.transaction((tx) => setStatus(tx, payment.id, getStatus(1, { state: formerState })))
      await drop(store, { ...payment, state: formerState })
      const expected = { ...payment, state: formerState, offChain: true, dropped: { formerState } }
      const reads = async () => [
        ...(await listed(store)),
        ...(await listed(store, { wallet: payment.sender })),
        ...(await store.payments.findByHash({ integrationAddress: shop, txHash: payment.txHash })),
        ...(await store.payments.transaction(payment)).payments,
        ...(await store.transaction((tx) => tx.paymentsForChange(payment))),
        ...(await store.transaction((tx) => tx.paymentsInBlocks(1, 0, 1_000))),
      ]
      expect(await reads()).toEqual(Array(6).fill(expected))
      await store.transaction((tx) => tx.setDropped(payment.id, null))
      expect(await reads()).toEqual(Array(6).fill({ ...expected, dropped: null }))
    })

  test('dropped payments are resolved when they are stored again, as they are, with their note', async ({ store }) => {
    const kept = await indexed(store, { txHash: hash(1) })
    const left = await indexed(store, { txHash: hash(2) })
    const dropped = await indexed(store, { txHash: hash(3) })
    await store.transaction((tx) => setStatus(tx, dropped.id, getStatus(2, { state: 'failure' })))
    await drop(store, { ...dropped, state: 'success' })
    await store.transaction((tx) => tx.markOffChain([left.id]))
    const elsewhere = { blockNumber: 130, blockHash: hash(0xb130), logIndex: 1 }
    const again = [4, 3, 2, 1].map((n) => primary({ txHash: hash(n), ...elsewhere }))
    const note = { formerState: 'success' } as const
    const returned = { ...dropped, ...elsewhere, ...getStatus(2, { state: 'failure' }), dropped: note }
    const upserted = await store.transaction((tx) => tx.upsertPayments(again))
    expect(numbers(upserted.inserted)).toEqual([4])
    expect(upserted.returned).toEqual([returned])
    expect((await store.payments.transaction(kept)).payments).toEqual([{ ...kept, ...elsewhere }])
    expect((await store.payments.transaction(left)).payments).toEqual([{ ...left, ...elsewhere }])

    await store.transaction((tx) => tx.setDropped(dropped.id, null))
    expect(await store.transaction((tx) => tx.upsertPayments(again))).toEqual({ inserted: [], returned: [] })
    expect((await store.payments.transaction(dropped)).payments).toEqual([{ ...returned, dropped: null }])
  })

  test('a dropped payment that comes back in the very block that it left is resolved too', async ({ store }) => {
    const payment = await indexed(store)
    await drop(store, payment)
    const { returned } = await store.transaction((tx) => tx.upsertPayments([primary()]))
    expect(returned).toEqual([{ ...payment, dropped: { formerState: null } }])
  })

  test('six concurrent calls on two stores drop each overdue payment once', async ({ store, twoStores }) => {
    for (let n = 1; n <= 20; n += 1) await indexed(store, { txHash: hash(n) })
    await store.transaction((tx) => tx.markOffChainAbove(1, 0))
    const dropAll = (on: Store) =>
      on.transaction(async (tx) => {
        const found = await tx.overduePayments({ chainId: 1, atOrBelow: 1_000, limit: 50 })
        for (const { id, version, state } of found) {
          await setStatus(tx, id, getStatus(version + 1, { state: 'failure' }))
          await tx.setDropped(id, { formerState: state })
        }
        return found.length
      })
    const stores = await twoStores()
    const counts = await Promise.all([0, 1, 0, 1, 0, 1].map((n) => dropAll(stores[n] ?? store)))
    expect(counts.reduce((sum, count) => sum + count)).toBe(20)
    expect((await listed(store)).map(({ version }) => version)).toEqual(Array(20).fill(2))
  })
}
