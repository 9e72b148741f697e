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
    paymentId: await newest(db.selectFrom('payments').select('id').orderBy('id', 'desc').limit(1)),
    deliveryId: await newest(db.selectFrom('deliveries').select('id').orderBy('id', 'desc').limit(1)),
    updateSeq: await newest(db.selectFrom('updates').select('seq as id').orderBy('seq', 'desc').limit(1)),
  }
}

/** Rows after the marks, at most `limit` of each kind. */
export async function readChanges(db: Connection, since: ConsoleMarks, limit: number): Promise<ConsoleChanges> {
  checkInteger(limit, 'limit', 1)
  const payments = await db
    .selectFrom('payments')
    .select('id')
    .where('id', '>', parseId(since.paymentId, 'paymentId'))
    .orderBy('id')
    .limit(limit)
    .execute()
  const deliveries = await db
    .selectFrom('deliveries')
    .select(['id', 'payment_id'])
    .where('id', '>', parseId(since.deliveryId, 'deliveryId'))
    .orderBy('id')
    .limit(limit)
    .execute()
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
function newUpdates(db: Connection, after: number, limit: number) {
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
