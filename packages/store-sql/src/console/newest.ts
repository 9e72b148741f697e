/** Reads the newest rows, which live pages compare with earlier ones. Source: the port ConsoleReads. @module */
import type { ConsoleNewest } from '@payment-integration/core/ports'
import type { Connection } from '../engine.js'
import { checkInteger } from '../internal/checks.js'

/** The newest rows of each kind. */
export async function readNewest(db: Connection, limit: number): Promise<ConsoleNewest> {
  checkInteger(limit, 'limit', 1)
  const payments = await newestPayments(db, limit).execute()
  const deliveries = await newestDeliveries(db, limit).execute()
  const updates = await newestUpdates(db, limit).execute()
  return {
    payments: payments.map(({ id }) => String(id)),
    deliveries: deliveries.map(({ id, payment_id }) => ({ deliveryId: String(id), paymentId: String(payment_id) })),
    updates: updates.map(({ seq, payment_id }) => ({
      seq: String(seq),
      paymentId: payment_id === null ? null : String(payment_id),
    })),
  }
}

/** The newest payments. */
export function newestPayments(db: Connection, limit: number) {
  return db.selectFrom('payments').select('id').orderBy('id', 'desc').limit(limit)
}

/** The deliveries among the newest versions: without a bound it would read past any number of others. */
export function newestDeliveries(db: Connection, limit: number) {
  const versions = db
    .selectFrom('snapshots')
    .select(['id', 'payment_id', 'integration'])
    .orderBy('id', 'desc')
    .limit(limit)
  return db
    .selectFrom(versions.as('v'))
    .select(['v.id', 'v.payment_id'])
    .where('v.integration', 'is not', null)
    .orderBy('v.id', 'desc')
}

/** The newest updates. */
export function newestUpdates(db: Connection, limit: number) {
  return db.selectFrom('updates').select(['seq', 'payment_id']).orderBy('seq', 'desc').limit(limit)
}
