/** Locks payments and changes their status. @module */
import type { PaymentSelector, PaymentStatus, StoredPayment } from '@payment-integration/core/ports'
import { sql, type Updateable } from 'kysely'
import type { Connection, SqlDialect } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { pack } from '../internal/values.js'
import type { PaymentRow } from '../schema/tables.js'
import { statusValues, storedPayment } from './payment-row.js'

/** The primary payments of a transaction, by ordinal, locked until the transaction ends. */
export async function paymentsForChange(
  db: Connection,
  dialect: SqlDialect,
  { chainId, txHash }: PaymentSelector,
): Promise<StoredPayment[]> {
  const rows = await db
    .selectFrom('payments')
    .selectAll()
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    .where('tx_hash', '=', txHash)
    .where('is_primary', '=', sql.lit(1))
    .orderBy('ordinal')
    .modifyEnd(dialect.forUpdate)
    .execute()
  return rows.map(storedPayment)
}

/**
 * Writes a new status.
 * @throws RangeError When no such payment is stored.
 */
export function setStatus(db: Connection, paymentId: string, status: PaymentStatus): Promise<void> {
  checkInteger(status.version, 'version', 1)
  return change(db, paymentId, statusValues(status))
}

/**
 * Marks a payment as dropped, or removes the mark.
 * @throws RangeError When no such payment is stored.
 */
export function setDropped(db: Connection, paymentId: string, dropped: StoredPayment['dropped']): Promise<void> {
  return change(db, paymentId, { dropped: pack(dropped && { formerState: dropped.formerState }) })
}

async function change(db: Connection, paymentId: string, values: Updateable<PaymentRow>): Promise<void> {
  const id = parseId(paymentId, 'paymentId')
  const changed = await db.updateTable('payments').set(values).where('id', '=', id).returning('id').executeTakeFirst()
  if (changed === undefined) throw new RangeError(`There is no payment ${paymentId}; nothing was written.`)
}
