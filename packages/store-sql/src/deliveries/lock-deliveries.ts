/** Locks and reads the deliveries that a claim has chosen. @module */
import type { Connection, SqlDialect } from '../engine.js'
import type { PreviousSigningColumns } from '../integrations.js'
import { hexOf } from '../internal/hex.js'
import { rowsOf } from '../internal/sent-query.js'
import { runPrepared, type StatementText, sendPrepared } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { Candidate } from './candidates.js'
import type { Moment } from './lease.js'
import { isSuperseded } from './superseded.js'

interface DeliveryRow {
  id: Integer
  version: Integer
  attempted: Integer
  schedule_from: Integer
  replayed: Integer
  made_at: Integer
  now: Integer
  superseded: Integer
  chain_id: Integer
  /** As `hexOf` reads it. */
  tx_hash: Uint8Array | string
  /** As `bytesOf` reads it. */
  body: Uint8Array | string
}

/** An enabled integration with a URL. */
interface IntegrationRow extends PreviousSigningColumns {
  /** As `hexOf` reads it. */
  address: Uint8Array | string
  notification_url: string
  signing_key_version: Integer
  signing_sealed: string
  endpoint_epoch: Integer
}

/** A locked delivery with its integration. */
export interface LockedDelivery {
  readonly row: DeliveryRow
  readonly integration: IntegrationRow
}

/** Locks the chosen deliveries that nobody else locks, and reads them with their integrations, by id. */
export async function lockDeliveries(
  db: Connection,
  dialect: SqlDialect,
  chosen: readonly Candidate[],
  now: Moment,
): Promise<Map<number, LockedDelivery>> {
  const ids = chosen.map(({ id }) => id)
  const sent = await sendPrepared<DeliveryRow>(db, dialect, lockText(dialect, ids, now))
  const integrations = await readIntegrations(db, dialect, chosen)
  const rows = await rowsOf(sent)
  // A delivery never changes its integration, so its row need not repeat the candidate's.
  const addresses = new Map(chosen.map(({ id, integration }) => [id, integration]))
  const locked = new Map<number, LockedDelivery>()
  for (const row of rows) {
    const id = integer(row.id)
    const integration = integrations.get(addresses.get(id) ?? '')
    if (integration !== undefined) locked.set(id, { row, integration })
  }
  return locked
}

/** The enabled integrations with a URL, each read once. */
async function readIntegrations(
  db: Connection,
  dialect: SqlDialect,
  chosen: readonly Candidate[],
): Promise<Map<string, IntegrationRow>> {
  const { name, oneOf } = dialect
  const addresses = [...new Set(chosen.map(({ integration }) => integration))]
  const rows = await runPrepared<IntegrationRow>(
    db,
    dialect,
    (parameter) => `select i.address, i.notification_url, i.signing_key_version, i.signing_sealed,
      i.previous_signing_key_version, i.previous_signing_sealed, i.previous_signing_until, i.endpoint_epoch
      from ${name('integrations')} i
      where ${oneOf('i.address', 'hex', addresses, parameter)} and i.enabled = 1 and i.notification_url is not null`,
  )
  return new Map(rows.map((row) => [hexOf(row.address), row]))
}

/**
 * The statement that locks and reads deliveries. `coalesce(due_at)` keeps planners off the index of due deliveries: a
 * plan that PostgreSQL made for an empty outbox would scan a backlog of millions for a few ids.
 */
export function lockText(dialect: SqlDialect, ids: readonly number[], moment: Moment): StatementText {
  const { bytesText, name, oneOf, skipLocked } = dialect
  return (parameter) => {
    const now = moment(parameter)
    return `select d.id, s.version, d.attempted, d.schedule_from, coalesce(d.replayed_at, s.created_at) as made_at,
      case when d.replayed_at is null then 0 else 1 end as replayed, ${now} as now,
      p.chain_id, p.tx_hash, ${bytesText('s.body')} as body,
      case when d.lane = 1 and d.attempted > 0 and ${isSuperseded(dialect)} then 1 else 0 end as superseded
    from ${name('outbox')} d cross join ${name('snapshots')} s cross join ${name('payments')} p
    where ${oneOf('d.id', 'integer', ids, parameter)} and coalesce(d.due_at, 0) <= ${now}
      and s.id = d.id and p.id = s.payment_id${skipLocked('d')}`
  }
}
