/** Reads the newest rows, which live pages compare with earlier ones. Source: the port ConsoleReads. @module */
import type { ConsoleNewest } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, Engine, SqlDialect } from '../engine.js'
import { checkInteger } from '../internal/checks.js'

/** The newest rows of each kind. */
export async function readNewest({ read: db, dialect }: Engine, limit: number): Promise<ConsoleNewest> {
  checkInteger(limit, 'limit', 1)
  const payments = await newestPayments(db, limit).execute()
  const deliveries = await newestDeliveries(db, limit).execute()
  const updates = await newestUpdates(db, dialect, limit).execute()
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

/** The newest deliveries. */
export function newestDeliveries(db: Connection, limit: number) {
  return db.selectFrom('deliveries').select(['id', 'payment_id']).orderBy('id', 'desc').limit(limit)
}

/** The newest updates, with the primary payments of their transactions. */
export function newestUpdates(db: Connection, { bytesOfHex }: SqlDialect, limit: number) {
  const updates = db.selectFrom('updates').select(['seq', 'chain_id', 'tx_hash']).orderBy('seq', 'desc').limit(limit)
  return db
    .selectFrom(updates.as('u'))
    .leftJoin('payments as p', (join) =>
      join
        .onRef('p.chain_id', '=', 'u.chain_id')
        .on('p.tx_hash', '=', sql<Uint8Array>`${sql.raw(bytesOfHex('u.tx_hash'))}`)
        .on(sql<boolean>`p.is_primary = 1`),
    )
    .select(['u.seq', 'p.id as payment_id'])
    .orderBy('u.seq', 'desc')
}
