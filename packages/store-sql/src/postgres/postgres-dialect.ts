/** The SQL dialect of PostgreSQL: due deliveries, partitions, the oldest snapshot. @module */
import type { DatabaseSnapshot } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { scanName } from '../deliveries/candidates.js'
import type { BulkColumn, DueQuery, DueScan, Lane, NamedQuery, Parameter, Partitions, SqlDialect } from '../engine.js'
import { parseKey, type RawRows, toPlainBytes } from '../internal/values.js'
import { type Integer, postgresTypes } from '../schema/migration.js'
import { createPartitions, listPartitions } from '../schema/partitions.js'
import { columnTypes, formatArray, insertNumbered, insertRows, parseEscapedBytes } from './bulk-rows.js'
import { lockRow } from './row-locks.js'

/** Limit and order lead the planner to one index search per integration and lane. */
function dueText(name: SqlDialect['name'], query: DueQuery, now: string, parameter: Parameter): string {
  const { scans, includesProbes, maxIntegrations, maxPerIntegration, excludedIds } = query
  const exclusion = excludedIds.length === 0 ? '' : `and not ${matchOneOf('q.id', 'integer', excludedIds, parameter)}`
  const integrationLimit = `${parameter(maxIntegrations)}::bigint`
  const perIntegrationLimit = `${parameter(maxPerIntegration)}::bigint`
  const mayBeNotified = 'i.enabled = 1 and i.notification_url is not null'
  const due = (lane: Lane) => `from ${name('outbox')} q
    where q.lane = ${lane} and q.integration = i.address and q.due_at <= ${now} ${exclusion}`
  const oldest = (lane: Lane, limit: string) =>
    `select q.id, q.due_at ${due(lane)} order by q.due_at, q.id limit ${limit}`
  const notBlocked = `and not exists (
    select 1 from ${name('endpoints')} e where e.integration = i.address and e.blocks > 0
  )`
  // The scan returns the due time of an integration's first delivery, even of one that `exclusion` leaves out.
  const hasOthers = (lane: Lane) =>
    exclusion === '' ? '' : `and (select h.id from (${oldest(lane, '1')}) h) is not null`
  const selectDue = ({ lane, upTo }: DueScan) => `select d.id, d.due_at, i.address as integration, ${lane} as lane,
      0 as probe, i.notification_url
    from (
      select i.address, i.notification_url from ${scanName(lane)} w cross join lateral (
        select i.address, i.notification_url from ${name('integrations')} i
        where i.address = w.integration and ${mayBeNotified} ${lane === 2 ? '' : notBlocked}
          ${hasOthers(lane)} limit 1
      ) i
      where w.integration <= ${parameter(parseKey(upTo))} and w.due_at <= ${now}
      limit ${integrationLimit}
    ) i cross join lateral (${oldest(lane, perIntegrationLimit)}) d`
  const probe = () => `select d.id, d.due_at, d.address as integration, 1 as lane, 1 as probe, d.notification_url
    from (
      select e.integration from ${name('endpoints')} e where e.blocks > 0 and e.blocked_until <= ${now}
      order by e.blocked_until
    ) e cross join lateral (
      select i.address, i.notification_url, h.id, h.due_at from ${name('integrations')} i
        cross join lateral ((${oldest(0, '1')}) union all (${oldest(1, '1')})) h
      where i.address = e.integration and ${mayBeNotified} order by h.due_at, h.id limit 1
    ) d limit ${integrationLimit}`
  const parts = [...scans.map(selectDue), ...(includesProbes ? [probe()] : [])]
  const tables = scans.map((scan) => dueScanText(name('outbox'), scan, parameter))
  return `with recursive ${tables.join(', ')} ${parts.map((part) => `(${part})`).join(' union all ')}`
}

/**
 * A skip scan over the integrations, with the first due time of each. One index search reads both: a search may pass
 * many dead index entries of deliveries that were claimed since the last vacuum, so a second one would cost as much.
 */
function dueScanText(outbox: string, { lane, after, upTo }: DueScan, parameter: Parameter): string {
  const next = (than: string) => `(select d.integration, d.due_at from ${outbox} d
      where d.lane = ${lane} and d.integration > ${than} order by d.integration, d.due_at limit 1)`
  return `${scanName(lane)} (integration, due_at) as (
    ${next(parameter(parseKey(after)))} union all
    select n.integration, n.due_at from ${scanName(lane)} w cross join lateral ${next('w.integration')} n
    where w.integration < ${parameter(parseKey(upTo))}
  )`
}

/**
 * Reads the oldest snapshot. If it has no start time, its age counts from its first reading. A replication slot has no
 * start time, and a role without `pg_read_all_stats` does not see those of other roles.
 */
export function createOldestSnapshot(rows: (query: NamedQuery) => Promise<RawRows>, clock: Pick<Clock, 'now'>) {
  let firstSeen: { readonly key: string; readonly at: number } | null = null
  return async (): Promise<DatabaseSnapshot | null> => {
    const { values } = await rows({ sql: oldestText, parameters: [] })
    const [row] = values
    if (row === undefined) {
      firstSeen = null
      return null
    }
    const [holder, key, databaseUser, application, age] = row
    const first = firstSeen !== null && firstSeen.key === key ? firstSeen : { key: String(key), at: clock.now() }
    firstSeen = first
    return {
      holder: holder as DatabaseSnapshot['holder'],
      ageMs: Math.max(0, age === null ? clock.now() - first.at : Number(age)),
      databaseUser: databaseUser === null ? null : String(databaseUser),
      application: String(application ?? ''),
    }
  }
}

// A transaction that wrote retains rows even without a snapshot. Snapshots of VACUUM retain none. A standby with
// `hot_standby_feedback` has a session without a database, or a slot.
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
  ) holders
  where transactions is not null
  order by transactions desc, age_ms desc limit 1`

function postgresPartitions(dialect: Pick<SqlDialect, 'name' | 'hasTable' | 'lastAssigned'>): Partitions {
  const { name, hasTable, lastAssigned } = dialect
  return {
    async add(db, segment) {
      const [snapshots] = listPartitions(segment.number)
      if (await hasTable(db, snapshots)) return
      for (const statement of createPartitions(name, segment)) await sql.raw(statement).execute(db)
    },
    async beginIds(db, first) {
      await sql.raw(`lock table ${name('snapshots')} in share mode`).execute(db)
      // An interrupted run may have set the sequence already.
      await sql`select setval(pg_get_serial_sequence(${name('snapshots')}, 'id'), ${first}, false)
        where ${sql.raw(lastAssigned('snapshots', 'id'))} < ${first}`.execute(db)
    },
    async empty(db, number) {
      const [, attempts] = listPartitions(number)
      if (await hasTable(db, attempts)) await sql.raw(`truncate ${name(attempts)}`).execute(db)
    },
    async drop(db, number) {
      // In the order in which settlements lock the tables.
      for (const table of listPartitions(number)) await sql.raw(`drop table if exists ${name(table)}`).execute(db)
    },
  }
}

// An array per column may contain any number of rows; this limits the size of a message.
const maxRows = 4_096

// `statement_timestamp` is stable, as a bound of an index search must be; `clock_timestamp` is not.
const databaseNow = 'cast(extract(epoch from statement_timestamp()) * 1000 as bigint)'
const transactionStart = 'cast(extract(epoch from transaction_timestamp()) * 1000 as bigint)'

/** `schema` qualifies every name, so the search path does not matter. Without `clock` the database's clock is used. */
export function postgresDialect(schema: string, clock: Pick<Clock, 'now'> | undefined): SqlDialect {
  const name = (table: string) => `"${schema}"."${table}"`
  const nowSql = () =>
    clock === undefined ? sql.raw<number>(databaseNow) : sql<number>`cast(${clock.now()} as bigint)`
  const hasTable: SqlDialect['hasTable'] = async (db, table) => {
    const query = sql`select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = ${table} and c.relkind in ('r', 'p')`
    return (await query.execute(db)).rows.length > 0
  }
  const lastAssigned: SqlDialect['lastAssigned'] = (table, column) =>
    `coalesce(pg_sequence_last_value(pg_get_serial_sequence('${name(table)}', '${column}')::regclass), 0)`
  return {
    types: postgresTypes,
    name,
    now: nowSql,
    nowText: (parameter) => (clock === undefined ? databaseNow : `cast(${parameter(clock.now())} as bigint)`),
    moment() {
      const at = clock?.now()
      return (parameter) => (at === undefined ? transactionStart : `cast(${parameter(at)} as bigint)`)
    },
    forUpdate: sql`for update`,
    lockRows: (table) => ` for update of ${table}`,
    skipLocked: (table) => ` for update of ${table} skip locked`,
    async waitAtMost(db, ms) {
      await sql`select set_config('lock_timeout', ${`${ms}ms`}, true)`.execute(db)
    },
    oneOf: matchOneOf,
    // Row comparisons, because with `first = …` PostgreSQL may scan the primary key. They are not strict: with strict
    // ones the planner expects no row of the lowest or highest value, and sorts.
    indexRange(first, second, { value, from, upTo }, parameter) {
      const columns = `(${first}, ${second})`
      const boundValue = parameter(value)
      return `${columns} >= (${boundValue}, ${parameter(from)}) and ${columns} <= (${boundValue}, ${parameter(upTo)})`
    },
    hexText: (column) => `'0x' || encode(${column}, 'hex')`,
    bytesText: (column) => `encode(${column}, 'escape')`,
    toBytes: (read) => toPlainBytes(typeof read === 'string' ? parseEscapedBytes(read) : read),
    placeholder: (n) => `$${n}`,
    bulkRows: (count) => Math.min(count, maxRows),
    bulkSource,
    insertAll: async (db, insert) => void (await insertRows(db, insert, '')),
    insertNumbered,
    selectDue: (query, time, parameter) => dueText(name, query, time, parameter),
    // Limit and order lead to one index search per integration, so that no plan joins or counts the whole backlog.
    pending: (atMost: number) => sql<{ pending: Integer }>`
        select count(*) as pending from (
          select 1 from ${sql.raw(name('integrations'))} i cross join (values (0), (1), (2)) l (lane) cross join lateral (
            select 1 from ${sql.raw(name('outbox'))} q
            where q.lane = l.lane and q.integration = i.address
            order by q.due_at, q.id limit ${atMost}
          ) d
          where i.enabled = 1 and i.notification_url is not null limit ${atMost}
        ) counted`,
    // INSERT locks the table before it assigns an id, until the transaction ends. This statement reads the locks after
    // its snapshot, so a writer without a lock has ended, and later statements see its rows.
    newestAndWriters: (table) => `select (select coalesce(max(id), 0) from ${name(table)}) as newest,
      (select coalesce(json_agg(l.virtualtransaction), '[]')::text from pg_catalog.pg_locks l
       where l.locktype = 'relation' and l.relation = '${name(table)}'::regclass and l.mode = 'RowExclusiveLock'
         and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())) as writers`,
    runningTransactions: `select pg_snapshot_xmax(pg_current_snapshot())::text as next,
      pg_snapshot_xmin(pg_current_snapshot())::text as oldest`,
    lock: lockRow,
    lastAssigned,
    async estimateRows(db, table) {
      // The table itself or its partitions.
      const query = sql<{ rows: number }>`select sum(greatest(c.reltuples, 0))::float8 as rows
        from pg_catalog.pg_class c where c.relkind <> 'p' and (c.oid = to_regclass(${name(table)})
          or c.oid in (select relid from pg_partition_tree(to_regclass(${name(table)}))))`
      return (await query.execute(db)).rows[0]?.rows ?? null
    },
    hasTable,
    partitions: postgresPartitions({ name, hasTable, lastAssigned }),
  }
}

const matchOneOf: SqlDialect['oneOf'] = (column, type, values, parameter) =>
  `${column} = any(${parameter(formatArray(values, type))}::${columnTypes[type]}[])`

function bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]) {
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${columnTypes[type]}[]`)
  const getValues = (index: number) => rows.map((row) => row[index])
  const parameters = columns.map(({ type }, index) => formatArray(getValues(index), type))
  return { sql: `select * from unnest(${arrays.join(', ')})`, parameters }
}
