/** Holding what a claim takes: locked where others may take it as well, and read. @module */
import type { Connection, SqlDialect } from '../engine.js'
import type { PreviousSigningColumns } from '../integrations.js'
import { rowsOf } from '../internal/sent-query.js'
import { runPrepared, type StatementText, sendPrepared } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { Candidate } from './candidate.js'
import type { Moment } from './candidates.js'

/** A delivery that is held. */
interface HeldRow {
  id: Integer
  version: Integer
  attempted: Integer
  schedule_from: Integer
  replayed: Integer
  made_at: Integer
  now: Integer
  overtaken: Integer
  integration: string
  chain_id: Integer
  tx_hash: string
  /** As `bytesOf` reads it. */
  body: Uint8Array | string
}

/** An integration that may be notified. */
interface OwnerRow extends PreviousSigningColumns {
  address: string
  notification_url: string
  signing_key_version: Integer
  signing_sealed: string
  endpoint_epoch: Integer
}

/** A delivery that is held, with its integration. */
export interface Held {
  readonly row: HeldRow
  readonly owner: OwnerRow
}

/** Locks those that nobody else holds, and reads them with their integrations, each of which is read once. */
export async function hold(
  db: Connection,
  dialect: SqlDialect,
  taken: readonly Candidate[],
  now: Moment,
): Promise<Map<number, Held>> {
  const ids = taken.map(({ id }) => id)
  const sent = await sendPrepared<HeldRow>(db, dialect, holdText(dialect, ids, now))
  const owners = await ownersOf(db, dialect, taken)
  const rows = await rowsOf(sent)
  const held = new Map<number, Held>()
  for (const row of rows) {
    const owner = owners.get(row.integration)
    if (owner !== undefined) held.set(integer(row.id), { row, owner })
  }
  return held
}

/** The integrations of candidates, but for those that may not be notified any more. */
async function ownersOf(
  db: Connection,
  dialect: SqlDialect,
  taken: readonly Candidate[],
): Promise<Map<string, OwnerRow>> {
  const { name, oneOf } = dialect
  const addresses = [...new Set(taken.map(({ integration }) => integration))]
  const rows = await runPrepared<OwnerRow>(
    db,
    dialect,
    (parameter) => `select i.address, i.notification_url, i.signing_key_version, i.signing_sealed,
      i.previous_signing_key_version, i.previous_signing_sealed, i.previous_signing_until, i.endpoint_epoch
      from ${name('integrations')} i
      where ${oneOf('i.address', 'text', addresses, parameter)} and i.enabled = 1 and i.notification_url is not null`,
  )
  return new Map(rows.map((row) => [row.address, row]))
}

/**
 * The statement that locks deliveries and reads them, but for those that somebody else holds. Its condition on `due_at` is written so that no planner
 * takes the index of what is due: a plan that PostgreSQL made while the outbox was empty would walk a backlog of millions to find a few ids.
 */
export function holdText(dialect: SqlDialect, ids: readonly number[], moment: Moment): StatementText {
  const { bytesText, name, oneOf, skipLocked } = dialect
  return (parameter) => {
    const now = moment(parameter)
    return `select d.id, d.version, d.attempted, d.schedule_from, coalesce(d.replayed_at, d.created_at, d.due_at) as made_at,
      case when d.replayed_at is null then 0 else 1 end as replayed, ${now} as now, d.integration,
      p.chain_id, p.tx_hash, ${bytesText('s.body')} as body,
      case when d.lane = 1 and d.attempted > 0 and exists (
        select 1 from ${name('deliveries')} n where n.payment_id = d.payment_id and n.version > d.version
      ) then 1 else 0 end as overtaken
    from ${name('outbox')} d cross join ${name('payments')} p cross join ${name('snapshots')} s
    where ${oneOf('d.id', 'integer', ids, parameter)} and coalesce(d.due_at, 0) <= ${now}
      and p.id = d.payment_id and s.payment_id = d.payment_id and s.version = d.version${skipLocked('d')}`
  }
}
