/** Stores snapshots and their deliveries. @module */
import type { NewSnapshot } from '@payment-integration/core/ports'
import type { BulkColumn, BulkInsert, Connection, SqlDialect } from './engine.js'
import { bulk } from './internal/bulk.js'
import { checkInteger, parseId } from './internal/checks.js'
import { runPrepared } from './internal/statement.js'

const snapshotColumns: BulkInsert['columns'] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'body', type: 'bytes' },
]

const deliveryColumns: readonly BulkColumn[] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'integration', type: 'text' },
]

/**
 * Stores snapshots, and one delivery, due at once, for each whose integration is registered with a notification URL.
 * Resolves the number of deliveries. Rejects with the database's own unique violation when a (payment, version) is
 * stored already.
 */
export async function insertSnapshots(
  db: Connection,
  dialect: SqlDialect,
  snapshots: readonly NewSnapshot[],
): Promise<number> {
  const rows = snapshots.map(({ paymentId, version, body }) => [
    parseId(paymentId, 'paymentId'),
    checkInteger(version, 'version', 1),
    body,
  ])
  await dialect.insertAll(db, { table: 'snapshots', columns: snapshotColumns, rows, keepsText: true })
  const notified = await notifiedAmong(db, dialect, snapshots)
  const deliveries = snapshots.flatMap(({ version, integrationAddress }, place) =>
    integrationAddress !== null && notified.has(integrationAddress)
      ? [[rows[place]?.[0], version, integrationAddress]]
      : [],
  )
  if (deliveries.length === 0) return 0
  const { ids } = await dialect.insertNumbered(db, {
    table: 'deliveries',
    columns: deliveryColumns,
    rows: deliveries,
    keepsText: true,
    fixed: [{ name: 'created_at', value: dialect.nowText }],
  })
  if (ids === null) throw new Error('The database did not return all inserted deliveries.')
  await putOut(db, dialect, ids)
  return deliveries.length
}

/** Adds deliveries to the outbox, due since their creation. */
async function putOut(db: Connection, dialect: SqlDialect, ids: readonly number[]): Promise<void> {
  const { name, oneOf } = dialect
  await runPrepared(
    db,
    dialect,
    (parameter) => `insert into ${name('outbox')}
        (id, payment_id, version, integration, created_at, due_at, lane, attempted, schedule_from)
      select d.id, d.payment_id, d.version, d.integration, d.created_at, d.created_at, 0, 0, 0 from ${name('deliveries')} d
      where ${oneOf('d.id', 'integer', ids, parameter)}`,
  )
}

/** The integrations that are registered with a notification URL. */
async function notifiedAmong(
  db: Connection,
  dialect: SqlDialect,
  snapshots: readonly NewSnapshot[],
): Promise<ReadonlySet<string>> {
  const named = new Set(snapshots.map(({ integrationAddress }) => integrationAddress))
  const found = await bulk<{ address: string }>(
    db,
    dialect,
    [{ name: 'address', type: 'text' }],
    [...named].flatMap((address) => (address === null ? [] : [[address]])),
    (source) =>
      `with v (address) as (${source})
       select i.address from v join ${dialect.name('integrations')} as i on i.address = v.address
       where i.notification_url is not null`,
  )
  return new Set(found.map(({ address }) => address))
}
