import type { Store } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import { deferred } from '../../../core/test/support/until.js'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onPostgres } from '../../test/support/on-postgres.js'

const { decided, hash, indexed, indexPayments, lockPayment, primary, shop } = fixtures

onPostgres('a PostgreSQL store whose lower ids commit later', ({ nextSchema, open, openMigrated }) => {
  const schema = 'streamed'

  test('its stream does not pass a lower id, and does not wait for newer writers', async () => {
    const [store, slow] = [await openMigrated({ schema }), open({ schema })]
    await indexed(store, { txHash: hash(1) })
    const before = await store.deliveries.completeUpTo()

    const writer = openWriter(slow, hash(2))
    await writer.hasWritten
    await indexed(store, { txHash: hash(3) })
    const newest = await store.deliveries.newestId({})
    expect(Number(newest)).toBe(Number(before) + 2)
    for (let n = 0; n < 3; n += 1) expect(await store.deliveries.completeUpTo()).toBe(before)

    // It began later, so the ids up to `newest` are complete without it.
    const later = openWriter(slow, hash(4))
    await later.hasWritten
    await writer.commit()
    expect(await store.deliveries.completeUpTo()).toBe(newest)
    const query = { integrationAddress: shop, afterId: before ?? '', upToId: newest ?? '', limit: 10 }
    expect((await store.deliveries.stream(query)).map(({ txHash }) => txHash)).toEqual([hash(2), hash(3)])
    await later.commit()
    expect(await store.deliveries.completeUpTo()).toBe(await store.deliveries.newestId({}))
  })

  test('the end of its stream is unknown at first while a writer is in flight, and known after it', async () => {
    const [store, slow] = [open({ schema }), open({ schema })]
    const writer = openWriter(slow, hash(7))
    await writer.hasWritten
    expect(await store.deliveries.completeUpTo()).toBeNull()
    await writer.commit()
    expect(await store.deliveries.completeUpTo()).toBe(await store.deliveries.newestId({}))
  })

  test('its newest rows have a lower id behind a higher one once its transaction commits', async () => {
    const schema = nextSchema()
    const [store, slow] = [await openMigrated({ schema }), open({ schema })]
    const writer = openWriter(slow, hash(1))
    await writer.hasWritten
    const second = await indexed(store, { txHash: hash(2) })
    const before = await store.console.newest(10)
    expect([before.payments, before.updates]).toEqual([[second.id], []])
    await writer.commit()
    const { payments, deliveries, updates } = await store.console.newest(10)
    const first = String(Number(second.id) - 1)
    expect(payments).toEqual([second.id, first])
    expect(deliveries.map(({ paymentId }) => paymentId)).toEqual([second.id, first])
    expect(updates.map(({ paymentId }) => paymentId)).toEqual([first])
  })

  /** A transaction that has stored a delivery and an update, and commits on demand. */
  function openWriter(store: Store, txHash: string) {
    const [mayCommit, written] = [deferred(), deferred()]
    const done = store.transaction(async (tx) => {
      await indexPayments(tx, [primary({ txHash })])
      await tx.insertUpdates([decided(await lockPayment(tx, txHash), { update: fixtures.update({ id: txHash }) })])
      written.resolve()
      await mayCommit.promise
    })
    const hasWritten = Promise.race([written.promise, done])
    return {
      hasWritten,
      async commit() {
        mayCommit.resolve()
        await done
      },
    }
  }
})
