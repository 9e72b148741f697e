/** Replaces what this cell knows of payments. Source: docs/decisions/cells.md. @module */
import type { AttemptRecord, MovedPayment, MovedVersion } from '@payment-integration/core/ports'
import { attemptColumns, attemptValues } from '../deliveries/attempt-row.js'
import type { BulkInsert, Connection, SqlDialect } from '../engine.js'
import { lowestReplayable } from '../history/segments.js'
import { hexBytes } from '../internal/hex.js'
import { run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import { packBody } from '../packed-body.js'
import { setDropped, setStatuses } from '../payments/payment-changes.js'
import type { Integer } from '../schema/integer.js'

const snapshotColumns: BulkInsert['columns'] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'integration', type: 'hex' },
  { name: 'created_at', type: 'integer' },
  { name: 'undelivered', type: 'text' },
  { name: 'body', type: 'bytes' },
]

const outboxColumns: BulkInsert['columns'] = [
  { name: 'id', type: 'integer' },
  { name: 'integration', type: 'hex' },
  { name: 'lane', type: 'integer' },
  { name: 'due_at', type: 'integer' },
  { name: 'replayed_at', type: 'integer' },
  { name: 'attempted', type: 'integer' },
  { name: 'schedule_from', type: 'integer' },
]

/** A payment of this cell, and what the file has of it. */
interface Replacement {
  readonly id: string
  readonly moved: MovedPayment
}

/** Replaces statuses, drop marks, versions, attempts and pending deliveries of locked payments. */
export async function replacePayments(
  db: Connection,
  dialect: SqlDialect,
  address: string,
  payments: readonly Replacement[],
): Promise<void> {
  if (payments.length === 0) return
  await setStatuses(db, dialect, new Map(payments.map(({ id, moved }) => [id, moved.status])))
  for (const { id, moved } of payments) if (moved.dropped !== null) await setDropped(db, id, moved.dropped)
  const closed = await removeVersions(db, dialect, payments)
  const versions = payments.flatMap(({ id, moved }) =>
    moved.versions
      .filter(({ version }) => !closed.has(`${id}:${version}`))
      .map((version) => ({ paymentId: Number(id), moved, version })),
  )
  const { ids } = await dialect.insertNumbered(db, {
    table: 'snapshots',
    columns: snapshotColumns,
    rows: versions.map(({ paymentId, moved, version }) => snapshotValues(address, paymentId, moved, version)),
  })
  if (ids === null) throw new Error('The database did not return all inserted snapshots.')
  const deliveries = versions.map(({ version }, place) => ({ id: ids[place] ?? 0, ...version }))
  await dialect.insertAll(db, {
    table: 'attempts',
    columns: attemptColumns,
    rows: deliveries.flatMap(({ id, attempts }) =>
      attempts.map((each: AttemptRecord & { readonly number: number }) => attemptValues(id, each.number, each)),
    ),
  })
  await dialect.insertAll(db, {
    table: 'outbox',
    columns: outboxColumns,
    rows: deliveries.flatMap(({ id, pending }) =>
      pending === null
        ? []
        : [[id, address, pending.lane, pending.dueAt, pending.replayedAt, pending.attempted, pending.scheduleFrom]],
    ),
  })
}

function snapshotValues(address: string, paymentId: number, moved: MovedPayment, version: MovedVersion): unknown[] {
  const integrationAddress = version.notified ? address : null
  const subject = { integrationAddress, chainId: moved.chainId, txHash: moved.txHash, version: version.version }
  const body = packBody(Buffer.from(version.body), subject)
  return [paymentId, version.version, integrationAddress, version.createdAt, version.undelivered, body]
}

/** Removes versions with their deliveries. Returns those that stay, as `payment:version`: their history ended. */
async function removeVersions(
  db: Connection,
  dialect: SqlDialect,
  payments: readonly Replacement[],
): Promise<ReadonlySet<string>> {
  const lowest = await lowestReplayable(db, dialect)
  const ids = payments.map(({ id }) => Number(id))
  const open = db.selectFrom('snapshots').select('id').where('payment_id', 'in', ids).where('id', '>=', lowest)
  await db.deleteFrom('attempts').where('delivery_id', 'in', open).execute()
  await db.deleteFrom('outbox').where('id', 'in', open).execute()
  await db.deleteFrom('snapshots').where('payment_id', 'in', ids).where('id', '>=', lowest).execute()
  const left = await db
    .selectFrom('snapshots')
    .select(['payment_id', 'version'])
    .where('payment_id', 'in', ids)
    .execute()
  return new Set(left.map((row) => `${row.payment_id}:${row.version}`))
}

/** Makes snapshots deliveries that are due now, but for those that are; resolves how many. */
export async function notifyOf(
  db: Connection,
  dialect: SqlDialect,
  address: string,
  snapshotIds: readonly string[],
): Promise<number> {
  const { name, nowText, oneOf } = dialect
  const integration = hexBytes(address)
  const changed = await run<{ id: Integer }>(
    db,
    dialect,
    (parameter) => `update ${name('snapshots')} set integration = ${parameter(integration)}
      where ${oneOf('id', 'integer', snapshotIds.map(Number), parameter)} and integration is null returning id`,
  )
  const ids = changed.map(({ id }) => integer(id)).sort((a, b) => a - b)
  await dialect.insertAll(db, {
    table: 'outbox',
    columns: outboxColumns.filter(({ name: column }) => column === 'id' || column === 'integration'),
    rows: ids.map((id) => [id, address]),
    fixed: [
      { name: 'due_at', value: nowText },
      ...['lane', 'attempted', 'schedule_from'].map((column) => ({ name: column, value: () => '0' })),
    ],
  })
  return ids.length
}
