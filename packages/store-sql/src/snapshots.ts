/** Snapshots and the deliveries they owe. @module */
import type { NewSnapshot } from '@payment-integration/core/ports'
import type { BulkColumn, Connection, Differences } from './engine.js'
import { bulk } from './internal/bulk.js'
import { checkInteger, parseId } from './internal/checks.js'

const snapshotColumns: readonly BulkColumn[] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'body', type: 'bytes' },
]

const deliveryColumns: readonly BulkColumn[] = [
  { name: 'place', type: 'integer' },
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'integration', type: 'text' },
]

/**
 * Stores snapshots, and one delivery, due at once, for each whose integration is registered with a notification URL.
 * Rejects with the database's own unique violation when a (payment, version) is stored already.
 */
export async function insertSnapshots(
  db: Connection,
  differences: Differences,
  snapshots: readonly NewSnapshot[],
): Promise<void> {
  const keyed = snapshots.map((snapshot) => ({
    ...snapshot,
    id: parseId(snapshot.paymentId, 'paymentId'),
    version: checkInteger(snapshot.version, 'version', 1),
  }))
  const bodies = keyed.map(({ id, version, body }) => [id, version, body])
  await bulk(
    db,
    differences,
    snapshotColumns,
    bodies,
    (source) => `insert into ${differences.name('snapshots')} (payment_id, version, body) ${source}`,
  )
  const owed = keyed.flatMap(({ id, version, integrationAddress }, place) =>
    integrationAddress === null ? [] : [[place, id, version, integrationAddress]],
  )
  await bulk(
    db,
    differences,
    deliveryColumns,
    owed,
    (source, parameter) =>
      `with v (place, payment_id, version, integration) as (${source})
       insert into ${differences.name('deliveries')}
         (payment_id, version, integration, status, attempted, lane, due_at)
       select v.payment_id, v.version, v.integration, 'pending', 0, 0, ${differences.nowText(parameter)}
       from v join ${differences.name('integrations')} as i on i.address = v.integration
       where i.notification_url is not null
       order by v.place`,
  )
}
