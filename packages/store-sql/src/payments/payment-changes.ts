/** Locks payments and changes their status. @module */
import {
  type PaymentSelector,
  type PaymentStatus,
  type StoredPayment,
  unsettledStates,
} from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { BulkColumn, Connection, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { isHex } from '../internal/hex.js'
import { runPrepared } from '../internal/statement.js'
import { pack } from '../internal/values.js'
import type { PaymentRow } from '../schema/tables.js'
import { paymentColumns, storedPayment } from './payment-row.js'
import { addUnsettled, removeUnsettled, type UnsettledKey } from './unsettled.js'

/**
 * The primary payments of some transactions, by ordinal. They are locked in one order until the transaction ends, so
 * that two callers never wait for each other. The order is that of the index of hashes, and `coalesce` keeps planners off
 * partial indexes: a plan that was made for an empty table would else walk another index. So the chain is compared
 * afterwards.
 */
export async function paymentsForChange(
  db: Connection,
  dialect: SqlDialect,
  selectors: readonly PaymentSelector[],
): Promise<StoredPayment[]> {
  const keys = new Set(selectors.map(({ chainId, txHash }) => `${checkInteger(chainId, 'chainId')}:${txHash}`))
  const hashes = [...new Set(selectors.map(({ txHash }) => txHash))].filter(isHex)
  const columns = paymentColumns.map((name) => name.replace('payments.', 'p.')).join(', ')
  const rows = await runPrepared<Selectable<PaymentRow>>(
    db,
    dialect,
    (parameter) =>
      `select ${columns} from ${dialect.name('payments')} p
       where ${dialect.oneOf('p.tx_hash', 'hex', hashes, parameter)} and coalesce(p.is_primary, 0) = 1
       order by p.tx_hash, p.chain_id, p.ordinal${dialect.lockRows('p')}`,
  )
  return rows
    .map(storedPayment)
    .filter(({ chainId, txHash }) => keys.has(`${chainId}:${txHash}`))
    .sort((a, b) => a.ordinal - b.ordinal)
}

const statusColumns: readonly BulkColumn[] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'state', type: 'text' },
  { name: 'recipient', type: 'text' },
  { name: 'invoice', type: 'text' },
]

/**
 * Writes new statuses, and keeps the table of unsettled payments.
 * @throws RangeError When a payment is not stored.
 */
export async function setStatuses(
  db: Connection,
  dialect: SqlDialect,
  statuses: ReadonlyMap<string, PaymentStatus>,
): Promise<void> {
  const rows = [...statuses].map(([paymentId, { version, state, recipient, invoice }]) => [
    parseId(paymentId, 'paymentId'),
    checkInteger(version, 'version', 1),
    state,
    pack(recipient),
    pack(invoice),
  ])
  const changed = await bulk<UnsettledKey>(
    db,
    dialect,
    statusColumns,
    rows,
    (source) =>
      `with v (payment_id, version, state, recipient, invoice) as (${source})
       update ${dialect.name('payments')} as p
       set version = v.version, state = v.state, recipient = v.recipient, invoice = v.invoice
       from v where p.id = v.payment_id returning id as payment_id, chain_id`,
  )
  if (changed.length < rows.length) throw missing([...statuses.keys()])
  const isUnsettled = ({ payment_id }: UnsettledKey) =>
    unsettledStates.includes(statuses.get(String(payment_id))?.state ?? null)
  await addUnsettled(db, dialect, changed.filter(isUnsettled))
  await removeUnsettled(
    db,
    dialect,
    changed.filter((key) => !isUnsettled(key)),
  )
}

/**
 * Marks a payment as dropped, or removes the mark.
 * @throws RangeError When no such payment is stored.
 */
export async function setDropped(db: Connection, paymentId: string, dropped: StoredPayment['dropped']): Promise<void> {
  const values = { dropped: pack(dropped && { formerState: dropped.formerState }) }
  const id = parseId(paymentId, 'paymentId')
  const changed = await db.updateTable('payments').set(values).where('id', '=', id).returning('id').executeTakeFirst()
  if (changed === undefined) throw missing([paymentId])
}

const missing = (paymentIds: readonly string[]) =>
  new RangeError(`There is no payment ${paymentIds.join(' or ')}; nothing was written.`)
