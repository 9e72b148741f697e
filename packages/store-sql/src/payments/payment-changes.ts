/** Payments inside a transaction: looked up to be changed, and changed. @module */
import type { PaymentSelector, PaymentStatus, StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, Differences } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { statusValues, storedPayment } from './payment-row.js'

/** The primary payments of a transaction, by ordinal, held until the transaction ends. */
export async function paymentsForChange(
  db: Connection,
  differences: Differences,
  { chainId, txHash }: PaymentSelector,
): Promise<StoredPayment[]> {
  const rows = await db
    .selectFrom('payments')
    .selectAll()
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    .where('tx_hash', '=', txHash)
    .where('is_primary', '=', sql.lit(1))
    .orderBy('ordinal')
    .modifyEnd(differences.forUpdate)
    .execute()
  return rows.map(storedPayment)
}

/** Marks the payments of a chain in blocks above a height as off the chain. */
export async function leaveChain(db: Connection, chainId: number, above: number): Promise<void> {
  await db
    .updateTable('payments')
    .set({ off_chain: 1 })
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    .where('block_number', '>', checkInteger(above, 'above'))
    .where('off_chain', '=', 0)
    .execute()
}

/**
 * Writes a new status.
 * @throws RangeError When no such payment is stored.
 */
export async function setStatus(db: Connection, paymentId: string, status: PaymentStatus): Promise<void> {
  const id = parseId(paymentId, 'paymentId')
  checkInteger(status.version, 'version', 1)
  const changed = await db
    .updateTable('payments')
    .set(statusValues(status))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  if (changed === undefined) throw new RangeError(`There is no payment ${paymentId}; its status was not written.`)
}
