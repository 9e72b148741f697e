/** Locks payments, changes statuses, marks payments off the chain. See docs/decisions/reorganizations.md. @module */
import { type OverdueQuery, type PaymentSelector, unsettledStates } from '@payment-integration/core/internal'
import type { PaymentStatus, StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import type { StatementText } from '../internal/statements.js'
import { awaitRows, listColumns, runBulk, runPrepared, sendPrepared } from '../internal/statements.js'
import { checkInteger, isHex, pack, parseId, toHex, toNullableHex, toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'
import { addUnsettled, removeUnsettled } from './payment-reads.js'
import type { FactRow, StatusColumns } from './payment-row.js'
import { factColumns, packInvoice, packRecipient, statusColumns, toPayment } from './payment-row.js'

// A statement that waits for a lock sees the statuses from before its wait. So one statement locks payments, and a
// later one reads their statuses.

export const lockedColumns = factColumns.map((name) => name.replace('payments.', 'p.')).join(', ')
const readColumns = statusColumns.map((name) => name.replace('statuses.', 's.')).join(', ')

export async function withStatuses(db: Connection, locked: readonly FactRow[]): Promise<StoredPayment[]> {
  if (locked.length === 0) return []
  const ids = locked.map(({ id }) => toNumber(id))
  const text: StatementText = (parameter) =>
    `select s.payment_id as id, ${readColumns} from ${db.dialect.name('statuses')} s
     where ${db.dialect.oneOf('s.payment_id', 'integer', ids, parameter)}`
  return joinStatuses(locked, await runPrepared<StatusesOfId>(db, text))
}

type StatusesOfId = StatusColumns & { readonly id: Integer }

function joinStatuses(locked: readonly FactRow[], statuses: readonly StatusesOfId[]): StoredPayment[] {
  const byId = new Map(statuses.map((row) => [toNumber(row.id), row]))
  return locked.map((row) => toPayment(row, byId.get(toNumber(row.id))))
}

/**
 * Locks payments in the order of the index of hashes, so that two callers cannot deadlock. Returns them by ordinal.
 * `coalesce` keeps planners off partial indexes that a plan for an empty table might scan. The chain is compared later.
 */
export async function lockPaymentsForChange(
  db: Connection,
  selectors: readonly PaymentSelector[],
): Promise<StoredPayment[]> {
  const keys = new Set(selectors.map(({ chainId, txHash }) => `${checkInteger(chainId, 'chainId')}:${txHash}`))
  const hashes = [...new Set(selectors.map(({ txHash }) => txHash))].filter(isHex)
  const [payments, statuses] = [db.dialect.name('payments'), db.dialect.name('statuses')]
  const ofHashes: StatementText = (parameter) =>
    `where ${db.dialect.oneOf('p.tx_hash', 'hex', hashes, parameter)} and coalesce(p.is_primary, 0) = 1
     order by p.tx_hash, p.chain_id, p.ordinal`
  const lockText: StatementText = (parameter) =>
    `select ${lockedColumns} from ${payments} p ${ofHashes(parameter)}${db.dialect.lockRows('p')}`
  const locked = await sendPrepared<FactRow>(db, lockText)
  const readText: StatementText = (parameter) =>
    `select p.id, ${readColumns} from ${payments} p left join ${statuses} s on s.payment_id = p.id
     ${ofHashes(parameter)}`
  // Sent at once, but executed after the wait of the first statement.
  const statusRows = await runPrepared<StatusesOfId>(db, readText)
  return joinStatuses(await awaitRows(locked), statusRows)
    .filter(({ chainId, txHash }) => keys.has(`${chainId}:${txHash}`))
    .sort((a, b) => a.ordinal - b.ordinal)
}

const changedColumns = listColumns({
  payment_id: 'integer',
  version: 'integer',
  state: 'text',
  recipient: 'text',
  invoice: 'text',
})

/** Updates the table of unsettled payments too. RangeError if a payment is not stored. */
export async function setStatuses(db: Connection, statuses: ReadonlyMap<string, PaymentStatus>): Promise<void> {
  const rows = [...statuses].map(([paymentId, { version, state, recipient, invoice }]) => [
    parseId(paymentId, 'paymentId'),
    checkInteger(version, 'version', 1),
    state,
    packRecipient(recipient),
    packInvoice(invoice),
  ])
  const payments = db.dialect.name('payments')
  // A subquery per row for the block time, so that no plan scans the payments.
  const text = () =>
    `insert into ${db.dialect.name('statuses')} (payment_id, block_timestamp, version, state, recipient, invoice)
     select payment_id, at, version, state, recipient, invoice from (
       select v.*, (select p.block_timestamp from ${payments} p where p.id = v.payment_id) as at from v
     ) known where at is not null
     on conflict (payment_id) do update
     set version = excluded.version, state = excluded.state, recipient = excluded.recipient, invoice = excluded.invoice
     returning payment_id, (select p.chain_id from ${payments} p where p.id = payment_id) as chain_id`
  const changed = await runBulk<Tables['unsettled']>(db, changedColumns, rows, text)
  if (changed.length < rows.length) throw createNotStoredError([...statuses.keys()])
  const isUnsettled = ({ payment_id }: Tables['unsettled']) =>
    unsettledStates.includes(statuses.get(String(payment_id))?.state ?? null)
  await addUnsettled(db, changed.filter(isUnsettled))
  const settled = changed.filter((key) => !isUnsettled(key))
  await removeUnsettled(db, settled)
}

/** RangeError if the payment is not stored. */
export async function setDropped(db: Connection, paymentId: string, dropped: StoredPayment['dropped']): Promise<void> {
  const values = { dropped: pack(dropped && { formerState: dropped.formerState }) }
  const id = parseId(paymentId, 'paymentId')
  const changed = await db.updateTable('payments').set(values).where('id', '=', id).returning('id').executeTakeFirst()
  if (changed === undefined) throw createNotStoredError([paymentId])
}

const createNotStoredError = (paymentIds: readonly string[]) =>
  new RangeError(`There is no payment ${paymentIds.join(' or ')}; nothing was written.`)

export async function markOffChainAbove(db: Connection, chainId: number, above: number): Promise<void> {
  await db
    .updateTable('payments')
    .set({ off_chain: 1 })
    .where('chain_id', '=', chainId)
    .where('block_number', '>', above)
    .where('off_chain', '=', 0)
    .execute()
}

export async function markOffChain(db: Connection, paymentIds: readonly string[]): Promise<void> {
  const ids = paymentIds.map((id) => [parseId(id, 'paymentId')])
  const text = () =>
    `update ${db.dialect.name('payments')} set off_chain = 1 where id in (select id from v) and off_chain = 0`
  await runBulk(db, listColumns({ id: 'integer' }), ids, text)
}

export async function findOffChainPayments(
  db: Connection,
  chainId: number,
): Promise<Pick<StoredPayment, 'txHash' | 'integrationAddress'>[]> {
  const rows = await db
    .selectFrom('payments')
    .select(['tx_hash', 'integration'])
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    // The literal lets both planners see that the partial index applies.
    .where(sql<boolean>`off_chain = 1 and dropped is null`)
    .execute()
  return rows.map(({ tx_hash, integration }) => ({
    txHash: toHex(tx_hash),
    integrationAddress: toNullableHex(integration),
  }))
}

export function blocksQuery(db: Connection, chainId: number, from: number, to: number) {
  return db
    .selectFrom('payments')
    .select(factColumns)
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    .where('block_number', '>=', checkInteger(from, 'from'))
    .where('block_number', '<=', checkInteger(to, 'to'))
    .orderBy('block_number')
    .orderBy('log_index')
    .orderBy('id')
}

export function overdueQuery(db: Connection, query: OverdueQuery) {
  const { chainId, atOrBelow, limit, awaitedAtOrBelow = atOrBelow } = query
  return (
    db
      .selectFrom('payments')
      .select(factColumns)
      .where('chain_id', '=', checkInteger(chainId, 'chainId'))
      .where('block_number', '<=', atOrBelow)
      // The literal lets both planners see that the partial index applies.
      .where(sql<boolean>`off_chain = 1 and dropped is null`)
      .where(({ eb, or, not, exists, selectFrom }) =>
        or([
          eb('block_number', '<=', awaitedAtOrBelow),
          not(
            exists(
              selectFrom('deposits as d')
                .select('d.id')
                .whereRef('d.chain_id', '=', 'payments.source_chain_id')
                .where('d.tx_hash', '=', sql<string>`${sql.raw(db.dialect.hexText('payments.source_tx_hash'))}`)
                .where('d.waiting', '=', sql.lit(1))
                .whereRef('payments.source_chain_id', '<>', 'payments.chain_id'),
            ),
          ),
        ]),
      )
      .orderBy('block_number')
      .orderBy('id')
      .limit(checkInteger(limit, 'limit', 1))
  )
}

export async function lockOverduePayments(db: Connection, query: OverdueQuery): Promise<StoredPayment[]> {
  const rows = await overdueQuery(db, query).modifyEnd(db.dialect.forUpdate).execute()
  return withStatuses(db, rows)
}
