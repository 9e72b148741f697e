/**
 * Reads the statuses of locked payments. A statement that waits for the lock of a payment still sees the statuses of
 * its beginning. So one statement locks, and a later one of the same transaction reads them.
 *
 * @module
 */
import type { StoredPayment } from '@payment-integration/core/ports'
import type { Connection, SqlDialect } from '../engine.js'
import { runPrepared } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { type FactRow, factColumns, paymentOf, type StatusColumns, statusColumns } from './payment-row.js'

/** The columns of facts in a statement that calls the table `p`. */
export const lockedColumns = factColumns.map((name) => name.replace('payments.', 'p.')).join(', ')
/** The columns of statuses in a statement that calls the table `s`. */
export const readColumns = statusColumns.map((name) => name.replace('statuses.', 's.')).join(', ')

/** The payments of locked rows, with their statuses. */
export async function withStatuses(
  db: Connection,
  dialect: SqlDialect,
  locked: readonly FactRow[],
): Promise<StoredPayment[]> {
  if (locked.length === 0) return []
  const ids = locked.map(({ id }) => integer(id))
  const rows = await runPrepared<StatusColumns & { readonly id: Integer }>(
    db,
    dialect,
    (parameter) =>
      `select s.payment_id as id, ${readColumns} from ${dialect.name('statuses')} s
       where ${dialect.oneOf('s.payment_id', 'integer', ids, parameter)}`,
  )
  return joinStatuses(locked, rows)
}

/** The payments of rows and their statuses, by id. */
export function joinStatuses(
  locked: readonly FactRow[],
  statuses: readonly (StatusColumns & { readonly id: Integer })[],
): StoredPayment[] {
  const byId = new Map(statuses.map((row) => [integer(row.id), row]))
  return locked.map((row) => paymentOf(row, byId.get(integer(row.id))))
}
