import type { StoreTransaction } from '@payment-integration/core/internal'
import type { Store, StoredPayment } from '@payment-integration/core/ports'
import { beforeEach, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { lockIsAwaited, onPostgres } from '../../test/support/on-postgres.js'

const { getStatus, hash, indexed, primary, setStatus } = fixtures
const selector = { chainId: 1, txHash: hash(1) }

onPostgres('on PostgreSQL a transaction that waits for a payment', ({ admin, nextSchema, open, openMigrated }) => {
  let stores: readonly [Store, Store]
  let payment: StoredPayment
  beforeEach(async () => {
    const schema = nextSchema()
    stores = [await openMigrated({ schema }), open({ schema })]
    payment = await indexed(stores[0], { blockNumber: 100 })
  })

  /** Reads in a second transaction while the first one has changed the payment; it commits once the read waits. */
  async function readAfterWait(
    read: (tx: StoreTransaction) => Promise<readonly StoredPayment[]>,
    searches = false,
    change = async (tx: StoreTransaction) => setStatus(tx, payment.id, getStatus(2, { state: 'failure' })),
  ) {
    const [first, second] = stores
    let waiting: Promise<readonly StoredPayment[]> | undefined
    await first.transaction(async (tx) => {
      await tx.paymentsForChange(selector)
      await change(tx)
      waiting = second.transaction(read, { searches })
      waiting.catch(() => undefined)
      await lockIsAwaited((text) => admin().query(text))
    })
    return (await waiting)?.map(({ version, state }) => [version, state])
  }

  for (const searches of [false, true])
    test(`to change it sees the first change, which inserted its status${searches ? ', when it searches' : ''}`, async () => {
      expect(await readAfterWait((tx) => tx.paymentsForChange(selector), searches)).toEqual([[2, 'failure']])
    })

  test('to change it sees a later change, which updated its status', async () => {
    await stores[0].transaction((tx) => setStatus(tx, payment.id, getStatus(2)))
    const change = (tx: StoreTransaction) => setStatus(tx, payment.id, getStatus(3, { state: 'success' }))
    expect(await readAfterWait((tx) => tx.paymentsForChange(selector), true, change)).toEqual([[3, 'success']])
  })

  test('to drop it sees its status', async () => {
    await stores[0].transaction((tx) => tx.markOffChainAbove(1, 99))
    const overdue = { chainId: 1, atOrBelow: 200, limit: 10 }
    expect(await readAfterWait((tx) => tx.overduePayments(overdue))).toEqual([[2, 'failure']])
  })

  test('to return it to the chain sees its status', async () => {
    await stores[0].transaction((tx) => tx.setDropped(payment.id, { formerState: null }))
    const read = async (tx: StoreTransaction) => (await tx.upsertPayments([primary({ blockNumber: 100 })])).returned
    expect(await readAfterWait(read)).toEqual([[2, 'failure']])
  })
})
