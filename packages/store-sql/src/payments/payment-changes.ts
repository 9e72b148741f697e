/** Locks payments and changes their status. @module */
import {
  type PaymentSelector,
  type PaymentStatus,
  type StoredPayment,
  unsettledStates,
} from '@payment-integration/core/ports'
import type { BulkColumn, Connection, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { isHex } from '../internal/hex.js'
import { rowsOf } from '../internal/sent-query.js'
import { runPrepared, type StatementText, sendPrepared } from '../internal/statement.js'
import { pack } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { joinStatuses, lockedColumns, readColumns } from './locked-payments.js'
import { packInvoice, packRecipient } from './merchant-data.js'
import type { FactRow, StatusColumns } from './payment-row.js'
import { addUnsettled, removeUnsettled, type UnsettledKey } from './unsettled.js'

/**
 * The primary payments of some transactions, by ordinal. They are locked in one order until the transaction ends, so
 * that two callers never wait for each other. The order is that of the index of hashes, and `coalesce` keeps planners
 * off partial indexes: a plan that was made for an empty table would else walk another index. So the chain is compared
 * afterwards.
 */
export async function paymentsForChange(
  db: Connection,
  dialect: SqlDialect,
  selectors: readonly PaymentSelector[],
): Promise<StoredPayment[]> {
  const keys = new Set(selectors.map(({ chainId, txHash }) => `${checkInteger(chainId, 'chainId')}:${txHash}`))
  const hashes = [...new Set(selectors.map(({ txHash }) => txHash))].filter(isHex)
  const [payments, statuses] = [dialect.name('payments'), dialect.name('statuses')]
  const ofHashes: StatementText = (parameter) =>
    `where ${dialect.oneOf('p.tx_hash', 'hex', hashes, parameter)} and coalesce(p.is_primary, 0) = 1
     order by p.tx_hash, p.chain_id, p.ordinal`
  const locked = await sendPrepared<FactRow>(
    db,
    dialect,
    (parameter) => `select ${lockedColumns} from ${payments} p ${ofHashes(parameter)}${dialect.lockRows('p')}`,
  )
  // See locked-payments.ts: the statuses need a statement of their own. It is sent at once, and runs after the wait.
  const read = await runPrepared<StatusColumns & { readonly id: Integer }>(
    db,
    dialect,
    (parameter) =>
      `select p.id, ${readColumns} from ${payments} p left join ${statuses} s on s.payment_id = p.id
       ${ofHashes(parameter)}`,
  )
  return joinStatuses(await rowsOf(locked), read)
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
    packRecipient(recipient),
    packInvoice(invoice),
  ])
  const payments = dialect.name('payments')
  const changed = await bulk<UnsettledKey>(
    db,
    dialect,
    statusColumns,
    rows,
    // The block time is selected for each row, so that no plan walks the payments.
    (source) =>
      `with v (payment_id, version, state, recipient, invoice) as (${source}),
         known as (select v.*, (select p.block_timestamp from ${payments} p where p.id = v.payment_id) as at from v)
       insert into ${dialect.name('statuses')} (payment_id, block_timestamp, version, state, recipient, invoice)
       select payment_id, at, version, state, recipient, invoice from known where at is not null
       on conflict (payment_id) do update
       set version = excluded.version, state = excluded.state, recipient = excluded.recipient, invoice = excluded.invoice
       returning payment_id, (select p.chain_id from ${payments} p where p.id = payment_id) as chain_id`,
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
