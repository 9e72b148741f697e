/** Finds the oldest snapshot that keeps dead rows of the outbox. See docs/runbooks/old-database-snapshot.md. @module */
import type { DatabaseSnapshot } from '@payment-integration/core/ports'
import type { NamedQuery } from '../engine.js'
import type { RawRows } from '../internal/row-view.js'

/**
 * Builds the reader. A role without `pg_read_all_stats` does not see when transactions of other roles began, and a
 * replication slot has no such time. Their age counts from the first reading.
 * @param now - The clock of those ages, in unix milliseconds.
 */
export function createOldestSnapshot(rows: (query: NamedQuery) => Promise<RawRows>, now: () => number) {
  let seen: { readonly key: string; readonly at: number } | null = null
  return async (): Promise<DatabaseSnapshot | null> => {
    const { values } = await rows({ sql: oldestText, parameters: [] })
    const [row] = values
    if (row === undefined) {
      seen = null
      return null
    }
    const [holder, key, databaseUser, application, age] = row
    const first = seen !== null && seen.key === key ? seen : { key: String(key), at: now() }
    seen = first
    return {
      holder: holder as DatabaseSnapshot['holder'],
      ageMs: Math.max(0, age === null ? now() - first.at : Number(age)),
      databaseUser: databaseUser === null ? null : String(databaseUser),
      application: String(application ?? ''),
    }
  }
}

// A transaction that wrote keeps rows from its own number on, even without a snapshot. VACUUM ignores the snapshots of
// every VACUUM. A standby with `hot_standby_feedback` has a session without a database, or a slot.
const oldestText = `select holder, holder || ' ' || id || ' ' || horizon, database_user, application, age_ms
  from (
    select 'session' as holder, a.pid::text as id, coalesce(a.backend_xmin, a.backend_xid)::text as horizon,
      greatest(age(a.backend_xmin), age(a.backend_xid)) as transactions, a.usename::text as database_user,
      a.application_name as application, round(extract(epoch from clock_timestamp() - a.xact_start) * 1000) as age_ms
    from pg_stat_activity a
    where (a.datname = current_database() or a.datname is null) and a.usesysid is not null and a.pid <> pg_backend_pid()
      and not exists (select from pg_stat_progress_vacuum v where v.pid = a.pid)
    union all
    select 'replication slot', slot_name::text, xmin::text, age(xmin), null, slot_name::text, null
    from pg_replication_slots
    union all
    select 'prepared transaction', gid, transaction::text, age(transaction), owner::text, gid,
      round(extract(epoch from clock_timestamp() - prepared) * 1000)
    from pg_prepared_xacts where database = current_database()
  ) held
  where transactions is not null
  order by transactions desc, age_ms desc limit 1`
