/** Reads and replaces the payments of an integration that moves. Source: docs/decisions/cells.md. @module */
import {
  type AttemptRecord,
  groupBy,
  type MovedPayment,
  type MovedPaymentKey,
  type MovedVersion,
  type MoveTransaction,
  type StoredMove,
} from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { attemptColumns, toAttemptRecord, toAttemptValues } from '../deliveries/delivery-lists.js'
import type { BulkInsert, Connection } from '../engine.js'
import { findLowestReplayable } from '../history/segments.js'
import { listColumns, run, type StatementText } from '../internal/statements.js'
import { parseHex, toNullableNumber, toNumber } from '../internal/values.js'
import { lockPaymentsForChange, setDropped, setStatuses, withStatuses } from '../payments/payment-changes.js'
import { factColumns } from '../payments/payment-row.js'
import { insertDueDeliveries, packBody, unpackBody } from '../payments/snapshots.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

/** Locks the primary payments of an integration in a range of ids. */
export async function lockPayments(
  db: Connection,
  address: string,
  range: { readonly after: number; readonly upTo: number },
): Promise<StoredMove[]> {
  const rows = await db
    .selectFrom('payments')
    .select(factColumns)
    .where('id', '>', range.after)
    .where('id', '<=', range.upTo)
    .where('integration', '=', parseHex(address))
    .where('is_primary', '=', 1)
    .orderBy('id')
    .modifyEnd(db.dialect.forUpdate)
    .execute()
  return readStoredMoves(db, await withStatuses(db, rows))
}

const formatKey = ({ chainId, txHash, ordinal }: MovedPaymentKey) => `${chainId}:${txHash}:${ordinal}`

/** Locks the primary payments with these keys. */
export async function lockPaymentsByKey(db: Connection, keys: readonly MovedPaymentKey[]): Promise<StoredMove[]> {
  const requestedKeys = new Set(keys.map(formatKey))
  const payments = await lockPaymentsForChange(db, keys)
  return readStoredMoves(
    db,
    payments.filter((payment) => requestedKeys.has(formatKey(payment))),
  )
}

async function readStoredMoves(db: Connection, payments: readonly StoredPayment[]): Promise<StoredMove[]> {
  if (payments.length === 0) return []
  const lowest = await findLowestReplayable(db)
  const ids = payments.map(({ id }) => Number(id))
  const snapshots = await db
    .selectFrom('snapshots')
    .selectAll()
    .where('payment_id', 'in', ids)
    .orderBy('version')
    .execute()
  const attempts = await db
    .selectFrom('attempts')
    .innerJoin('snapshots', 'snapshots.id', 'attempts.delivery_id')
    .selectAll('attempts')
    .where('snapshots.payment_id', 'in', ids)
    .orderBy('attempts.number')
    .execute()
  const outbox = await db
    .selectFrom('outbox')
    .innerJoin('snapshots', 'snapshots.id', 'outbox.id')
    .selectAll('outbox')
    .where('snapshots.payment_id', 'in', ids)
    .execute()
  const attemptsByDelivery = groupBy(attempts, (row) => String(row.delivery_id))
  const pendingByDelivery = new Map(outbox.map((row) => [String(row.id), row]))
  const versionsByPayment = groupBy(snapshots, (row) => String(row.payment_id))
  return payments.map(({ id, chainId, txHash, ordinal, blockNumber, dropped, integrationAddress, ...status }) => {
    const ownSnapshots = versionsByPayment.get(id) ?? []
    const { version, state, recipient, invoice } = status
    return {
      id,
      integrationAddress,
      chainId,
      txHash,
      ordinal,
      blockNumber,
      dropped,
      status: { version, state, recipient, invoice },
      closed: ownSnapshots.filter((row) => toNumber(row.id) < lowest).map((row) => toNumber(row.version)),
      versions: ownSnapshots.map((row): MovedVersion => {
        const key = { integrationAddress, chainId, txHash, version: toNumber(row.version) }
        const attemptRows = attemptsByDelivery.get(String(row.id)) ?? []
        return {
          version: key.version,
          createdAt: toNumber(row.created_at),
          notified: row.integration !== null,
          undelivered: row.undelivered as MovedVersion['undelivered'],
          pending: toPending(pendingByDelivery.get(String(row.id))),
          body: Buffer.from(unpackBody(db.dialect.toBytes(row.body), key)).toString(),
          attempts: attemptRows.map((each) => ({ number: toNumber(each.number), ...toAttemptRecord(each) })),
        }
      }),
    }
  })
}

function toPending(row: Tables['outbox'] | undefined): MovedVersion['pending'] {
  if (row === undefined) return null
  return {
    lane: toNumber(row.lane),
    dueAt: toNumber(row.due_at),
    replayedAt: toNullableNumber(row.replayed_at),
    attempted: toNumber(row.attempted),
    scheduleFrom: toNumber(row.schedule_from),
  }
}

const snapshotColumns: BulkInsert['columns'] = [
  ...listColumns({
    payment_id: 'integer',
    version: 'integer',
    integration: 'hex',
    created_at: 'integer',
    undelivered: 'text',
  }),
  { name: 'body', type: 'bytes' },
]

const outboxColumns = listColumns({
  id: 'integer',
  integration: 'hex',
  lane: 'integer',
  due_at: 'integer',
  replayed_at: 'integer',
  attempted: 'integer',
  schedule_from: 'integer',
})

type Replacements = Parameters<MoveTransaction['replace']>[1]

/** Replaces statuses, drop marks, versions, attempts and pending deliveries of locked payments. */
export async function replacePayments(db: Connection, address: string, payments: Replacements): Promise<void> {
  if (payments.length === 0) return
  await setStatuses(db, new Map(payments.map(({ id, moved }) => [id, moved.status])))
  for (const { id, moved } of payments) if (moved.dropped !== null) await setDropped(db, id, moved.dropped)
  const closedVersions = await removeVersions(db, payments)
  const versions = payments.flatMap(({ id, moved }) =>
    moved.versions
      .filter(({ version }) => !closedVersions.has(`${id}:${version}`))
      .map((version) => ({ paymentId: Number(id), moved, version })),
  )
  const { ids } = await db.dialect.insertNumbered(db, {
    table: 'snapshots',
    columns: snapshotColumns,
    rows: versions.map(({ paymentId, moved, version }) => toSnapshotValues(address, paymentId, moved, version)),
  })
  if (ids === null) throw new Error('The database did not return all inserted snapshots.')
  const deliveries = versions.map(({ version }, index) => ({ id: ids[index] ?? 0, ...version }))
  await db.dialect.insertAll(db, {
    table: 'attempts',
    columns: attemptColumns,
    rows: deliveries.flatMap(({ id, attempts }) =>
      attempts.map((each: AttemptRecord & { readonly number: number }) => toAttemptValues(id, each.number, each)),
    ),
  })
  await db.dialect.insertAll(db, {
    table: 'outbox',
    columns: outboxColumns,
    rows: deliveries.flatMap(({ id, pending }) =>
      pending === null
        ? []
        : [[id, address, pending.lane, pending.dueAt, pending.replayedAt, pending.attempted, pending.scheduleFrom]],
    ),
  })
}

function toSnapshotValues(address: string, paymentId: number, moved: MovedPayment, version: MovedVersion): unknown[] {
  const integrationAddress = version.notified ? address : null
  const key = { integrationAddress, chainId: moved.chainId, txHash: moved.txHash, version: version.version }
  const body = packBody(Buffer.from(version.body), key)
  return [paymentId, version.version, integrationAddress, version.createdAt, version.undelivered, body]
}

/** Removes versions with their deliveries. Returns those of closed segments, which stay, as `payment:version`. */
async function removeVersions(db: Connection, payments: Replacements): Promise<ReadonlySet<string>> {
  const lowest = await findLowestReplayable(db)
  const ids = payments.map(({ id }) => Number(id))
  const replayable = db.selectFrom('snapshots').select('id').where('payment_id', 'in', ids).where('id', '>=', lowest)
  await db.deleteFrom('attempts').where('delivery_id', 'in', replayable).execute()
  await db.deleteFrom('outbox').where('id', 'in', replayable).execute()
  await db.deleteFrom('snapshots').where('payment_id', 'in', ids).where('id', '>=', lowest).execute()
  const remaining = await db
    .selectFrom('snapshots')
    .select(['payment_id', 'version'])
    .where('payment_id', 'in', ids)
    .execute()
  return new Set(remaining.map((row) => `${row.payment_id}:${row.version}`))
}

/** Adds a due delivery for each snapshot that has none. Returns the number of new deliveries. */
export async function notifyVersions(db: Connection, address: string, snapshotIds: readonly string[]): Promise<number> {
  const { name, nowText, oneOf } = db.dialect
  const integration = parseHex(address)
  const text: StatementText = (parameter) => `update ${name('snapshots')} set integration = ${parameter(integration)}
    where ${oneOf('id', 'integer', snapshotIds.map(Number), parameter)} and integration is null returning id`
  const changed = await run<{ id: Integer }>(db, text)
  const ids = changed.map(({ id }) => toNumber(id)).sort((a, b) => a - b)
  const deliveries = ids.map((id) => [id, address])
  await insertDueDeliveries(db, deliveries, nowText)
  return ids.length
}
