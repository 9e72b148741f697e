/** Finds rows that were added since a mark. Source: the port ConsoleReads. @module */
import type { ConsoleChanges, ConsoleMarks } from '@payment-integration/core/ports'
import type { Connection } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'

/** The newest rows. */
export async function readMarks(db: Connection): Promise<ConsoleMarks> {
  const newest = async (rows: { executeTakeFirst(): Promise<{ readonly id: Integer } | undefined> }) =>
    String(integer((await rows.executeTakeFirst())?.id ?? 0))
  return {
    paymentId: await newest(newestQuery(db, 'payments')),
    deliveryId: await newest(newestQuery(db, 'deliveries')),
    updateSeq: await newest(newestUpdateQuery(db)),
  }
}

/** The newest id of a table. */
export function newestQuery(db: Connection, table: 'payments' | 'deliveries') {
  return db.selectFrom(table).select('id').orderBy('id', 'desc').limit(1)
}

/** The newest number of an update. */
export function newestUpdateQuery(db: Connection) {
  return db.selectFrom('updates').select('seq as id').orderBy('seq', 'desc').limit(1)
}

/** Payments after an id. */
export function newPayments(db: Connection, after: number, limit: number) {
  return db.selectFrom('payments').select('id').where('id', '>', after).orderBy('id').limit(limit)
}

/** Deliveries after an id. */
export function newDeliveries(db: Connection, after: number, limit: number) {
  return db.selectFrom('deliveries').select(['id', 'payment_id']).where('id', '>', after).orderBy('id').limit(limit)
}

/** Rows after the marks, at most `limit` of each kind. */
export async function readChanges(db: Connection, since: ConsoleMarks, limit: number): Promise<ConsoleChanges> {
  checkInteger(limit, 'limit', 1)
  const payments = await newPayments(db, parseId(since.paymentId, 'paymentId'), limit).execute()
  const deliveries = await newDeliveries(db, parseId(since.deliveryId, 'deliveryId'), limit).execute()
  const updates = await newUpdates(db, parseId(since.updateSeq, 'updateSeq'), limit).execute()
  const touched = [
    ...payments.map(({ id }) => id),
    ...deliveries.map(({ payment_id }) => payment_id),
    ...updates.flatMap(({ payment_id }) => payment_id ?? []),
  ]
  const last = (rows: readonly { readonly id: Integer }[], before: string) => String(rows.at(-1)?.id ?? before)
  return {
    marks: {
      paymentId: last(payments, since.paymentId),
      deliveryId: last(deliveries, since.deliveryId),
      updateSeq: last(updates, since.updateSeq),
    },
    paymentIds: [...new Set(touched.map(String))].sort((a, b) => Number(a) - Number(b)),
    deliveryIds: deliveries.map(({ id }) => String(id)),
  }
}

/** Updates after a number, with the payments of their transactions. */
export function newUpdates(db: Connection, after: number, limit: number) {
  const updates = db
    .selectFrom('updates')
    .select(['seq', 'chain_id', 'tx_hash'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
  return db
    .selectFrom(updates.as('u'))
    .leftJoin('payments as p', (join) =>
      join.onRef('p.chain_id', '=', 'u.chain_id').onRef('p.tx_hash', '=', 'u.tx_hash'),
    )
    .select(['u.seq as id', 'p.id as payment_id'])
    .orderBy('u.seq')
}
