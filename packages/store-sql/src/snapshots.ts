/** Stores snapshots, and puts deliveries into the outbox. @module */
import type { NewSnapshot } from '@payment-integration/core/ports'
import type { BulkInsert, Connection, Parameter, SqlDialect } from './engine.js'
import { bulk } from './internal/bulk.js'
import { checkInteger, parseId } from './internal/checks.js'
import { hexOf } from './internal/hex.js'
import { packBody } from './packed-body.js'
import type { Integer } from './schema/integer.js'

/** Largest number in the column. */
export const maxVersion = 2 ** 31 - 1

const snapshotColumns: BulkInsert['columns'] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'integration', type: 'hex' },
  { name: 'body', type: 'bytes' },
]

const outboxColumns: BulkInsert['columns'] = [
  { name: 'id', type: 'integer' },
  { name: 'integration', type: 'hex' },
]

/** The columns of a delivery that was never claimed. */
const unclaimed = ['lane', 'attempted', 'schedule_from'].map((name) => ({ name, value: () => '0' }))

/**
 * Stores snapshots. Each whose integration is registered with a notification URL is a delivery too, due at once.
 * Resolves the number of deliveries. Rejects with the database's own unique violation when a (payment, version) is
 * stored already.
 */
export async function insertSnapshots(
  db: Connection,
  dialect: SqlDialect,
  snapshots: readonly NewSnapshot[],
): Promise<number> {
  if (snapshots.length === 0) return 0
  const { notified, now } = await notifiedAmong(db, dialect, snapshots)
  const integrations = snapshots.map(({ integrationAddress: address }) =>
    address !== null && notified.has(address) ? address : null,
  )
  const { ids } = await dialect.insertNumbered(db, {
    table: 'snapshots',
    columns: snapshotColumns,
    rows: snapshots.map((snapshot, place) => [
      parseId(snapshot.paymentId, 'paymentId'),
      checkInteger(snapshot.version, 'version', 1, maxVersion),
      integrations[place],
      packBody(snapshot.body, snapshot),
    ]),
    keepsText: true,
    fixed: [{ name: 'created_at', value: now }],
  })
  if (ids === null) throw new Error('The database did not return all inserted snapshots.')
  const deliveries = ids.flatMap((id, place) => {
    const integration = integrations[place] ?? null
    return integration === null ? [] : [[id, integration]]
  })
  await dialect.insertAll(db, {
    table: 'outbox',
    columns: outboxColumns,
    rows: deliveries,
    keepsText: true,
    fixed: [{ name: 'due_at', value: now }, ...unclaimed],
  })
  return deliveries.length
}

/** The integrations that are registered with a notification URL, and one time: deliveries are due at their creation. */
async function notifiedAmong(
  db: Connection,
  dialect: SqlDialect,
  snapshots: readonly NewSnapshot[],
): Promise<{ readonly notified: ReadonlySet<string>; now(parameter: Parameter): string }> {
  const { name, nowText } = dialect
  const named = new Set(snapshots.map(({ integrationAddress }) => integrationAddress))
  const found = await bulk<{ address: Uint8Array; now: Integer }>(
    db,
    dialect,
    [{ name: 'address', type: 'hex' }],
    [...named].flatMap((address) => (address === null ? [] : [[address]])),
    (source, parameter) =>
      `with v (address) as (${source})
       select i.address, ${nowText(parameter)} as now from v join ${name('integrations')} as i on i.address = v.address
       where i.notification_url is not null`,
  )
  const at = found[0]?.now
  return {
    notified: new Set(found.map(({ address }) => hexOf(address))),
    now: (parameter) => (at === undefined ? nowText(parameter) : `cast(${parameter(at)} as bigint)`),
  }
}
