import { expect, it } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onPostgres } from '../../test/support/on-postgres.js'
import { signal } from '../../test/support/signal.js'

const { decided, hash, indexed, indexPayments, lockPayment, primary } = fixtures

onPostgres('the newest rows of a PostgreSQL store', ({ openMigrated, open }) => {
  it('have a lower id behind a higher one once its transaction commits', async () => {
    const schema = 'newest'
    const [store, slow] = [await openMigrated({ schema }), open({ schema })]
    const [mayCommit, hasWritten] = [signal(), signal()]
    const done = slow.transaction(async (tx) => {
      await indexPayments(tx, [primary({ txHash: hash(1) })])
      await tx.insertUpdates([decided(await lockPayment(tx, hash(1)))])
      hasWritten.give()
      await mayCommit.given
    })
    await Promise.race([hasWritten.given, done])
    const second = await indexed(store, { txHash: hash(2) })
    const before = await store.console.newest(10)
    expect([before.payments, before.updates]).toEqual([[second.id], []])
    mayCommit.give()
    await done
    const { payments, deliveries, updates } = await store.console.newest(10)
    const first = String(Number(second.id) - 1)
    expect(payments).toEqual([second.id, first])
    expect(deliveries.map(({ paymentId }) => paymentId)).toEqual([second.id, first])
    expect(updates.map(({ paymentId }) => paymentId)).toEqual([first])
  })
})
