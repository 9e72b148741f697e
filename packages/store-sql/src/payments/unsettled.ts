/** Keeps the payments without a final state apart, as a small table that receipt polling reads. @module */
import type { PaymentReads, StoredPayment } from '@payment-integration/core/ports'
import type { BulkColumn, Connection, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { paymentColumns, storedPayment } from './payment-row.js'

/** A row of the table. */
export interface UnsettledKey {
  readonly chain_id: Integer
  readonly payment_id: Integer
}

const keyColumns: readonly BulkColumn[] = [
  { name: 'chain_id', type: 'integer' },
  { name: 'payment_id', type: 'integer' },
]
const valuesOf = (keys: readonly UnsettledKey[]) =>
  keys.map(({ chain_id, payment_id }) => [integer(chain_id), integer(payment_id)])

/** Inserts the primary ones of new payments: they have no state yet. */
export async function insertUnsettled(
  db: Connection,
  dialect: SqlDialect,
  inserted: readonly StoredPayment[],
): Promise<void> {
  const rows = inserted.flatMap(({ id, chainId, primary }) => (primary ? [[chainId, Number(id)]] : []))
  await dialect.insertAll(db, { table: 'unsettled', columns: keyColumns, rows })
}

/** Adds payments; those that are in the table stay. */
export async function addUnsettled(db: Connection, dialect: SqlDialect, keys: readonly UnsettledKey[]): Promise<void> {
  await bulk(
    db,
    dialect,
    keyColumns,
    valuesOf(keys),
    (source) =>
      `with v (chain_id, payment_id) as (${source})
       insert into ${dialect.name('unsettled')} (chain_id, payment_id) select chain_id, payment_id from v where true
       on conflict (chain_id, payment_id) do nothing`,
  )
}

/** Removes payments; those that are not in the table do not matter. */
export async function removeUnsettled(
  db: Connection,
  dialect: SqlDialect,
  keys: readonly UnsettledKey[],
): Promise<void> {
  await bulk(
    db,
    dialect,
    keyColumns,
    valuesOf(keys),
    (source) =>
      `with v (chain_id, payment_id) as (${source})
       delete from ${dialect.name('unsettled')} where (chain_id, payment_id) in (select chain_id, payment_id from v)`,
  )
}

/** The reads of the table. */
export function createUnsettledReads(db: Connection): Pick<PaymentReads, 'listUnsettled' | 'unsettledChains'> {
  return {
    async unsettledChains() {
      const found: number[] = []
      for (;;) {
        const next = await nextChainQuery(db, found.at(-1) ?? -1).executeTakeFirst()
        if (next === undefined) return found
        found.push(integer(next.chain_id))
      }
    },
    async listUnsettled({ chainId, afterId, limit }) {
      const rows = await unsettledQuery(db, {
        chainId: checkInteger(chainId, 'chainId'),
        afterId: afterId === undefined ? 0 : parseId(afterId, 'afterId'),
        limit: checkInteger(limit, 'limit', 1),
      }).execute()
      return rows.map(storedPayment)
    },
  }
}

/** The lowest chain above `after` in the table. */
export function nextChainQuery(db: Connection, after: number) {
  return db.selectFrom('unsettled').select('chain_id').where('chain_id', '>', after).orderBy('chain_id').limit(1)
}

/** The payments of a chain in the table, by id. */
export function unsettledQuery(
  db: Connection,
  query: { readonly chainId: number; readonly afterId: number; readonly limit: number },
) {
  const keys = db
    .selectFrom('unsettled')
    .select('payment_id')
    .where('chain_id', '=', query.chainId)
    .where('payment_id', '>', query.afterId)
    .orderBy('payment_id')
    .limit(query.limit)
  return db
    .selectFrom(keys.as('keys'))
    .innerJoin('payments', 'payments.id', 'keys.payment_id')
    .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
    .select(paymentColumns)
    .orderBy('keys.payment_id')
}
