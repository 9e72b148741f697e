/** The SQL dialect of PostgreSQL. @module */
import { sql } from 'kysely'
import type { BulkColumn, BulkSource, SqlDialect } from '../engine.js'
import { bytes } from '../internal/values.js'
import { postgresTypes } from '../schema/column-types.js'
import type { Integer } from '../schema/integer.js'
import { arrayLiteral } from './array-literal.js'
import { insertAll, insertNumbered } from './bulk-insert.js'
import { updateAll } from './bulk-update.js'
import { dueText } from './due.js'
import { fromEscaped } from './escaped-bytes.js'
import { postgresPartitions } from './partitions.js'
import { lockRow } from './row-locks.js'

const arrayTypes = { integer: 'bigint[]', real: 'double precision[]', text: 'text[]', hex: 'bytea[]' } as const

// One array per column carries any number of rows; this bounds the size of a message.
const mostRows = 4_096

// The time of the statement, not of the row: only a stable expression can bound an index search.
const databaseNow = 'cast(extract(epoch from statement_timestamp()) * 1000 as bigint)'
const beginning = 'cast(extract(epoch from transaction_timestamp()) * 1000 as bigint)'

/**
 * @param schema - The schema of the tables, part of every name, so the connection's search path does not matter.
 * @param now - The clock of leases in unix milliseconds; undefined: the database's own.
 */
export function postgresDialect(schema: string, now: (() => number) | undefined): SqlDialect {
  const name = (table: string) => `"${schema}"."${table}"`
  const nowSql = () => (now === undefined ? sql.raw<number>(databaseNow) : sql<number>`cast(${now()} as bigint)`)
  const hasTable: SqlDialect['hasTable'] = async (db, table) => {
    const found = sql`select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = ${table} and c.relkind in ('r', 'p')`
    return (await found.execute(db)).rows.length > 0
  }
  const lastAssigned: SqlDialect['lastAssigned'] = (table, column) =>
    `coalesce(pg_sequence_last_value(pg_get_serial_sequence('${name(table)}', '${column}')::regclass), 0)`
  return {
    types: postgresTypes,
    name,
    now: nowSql,
    nowText: (parameter) => (now === undefined ? databaseNow : `cast(${parameter(now())} as bigint)`),
    moment() {
      const at = now?.()
      return (parameter) => (at === undefined ? beginning : `cast(${parameter(at)} as bigint)`)
    },
    forUpdate: sql`for update`,
    lockRows: (table) => ` for update of ${table}`,
    skipLocked: (table) => ` for update of ${table} skip locked`,
    async waitAtMost(db, ms) {
      await sql`select set_config('lock_timeout', ${`${ms}ms`}, true)`.execute(db)
    },
    oneOf,
    // Rows are compared: with `first = …` PostgreSQL may scan the primary key, and read rows of all other values.
    // Both ends are included: by a strict comparison the planner expects no row of the lowest or the highest value,
    // and sorts.
    indexRange(first, second, { value, from, upTo }, parameter) {
      const columns = `(${first}, ${second})`
      const same = parameter(value)
      return `${columns} >= (${same}, ${parameter(from)}) and ${columns} <= (${same}, ${parameter(upTo)})`
    },
    hexText: (column) => `'0x' || encode(${column}, 'hex')`,
    bytesText: (column) => `encode(${column}, 'escape')`,
    bytesOf: (read) => bytes(typeof read === 'string' ? fromEscaped(read) : read),
    placeholder: (n) => `$${n}`,
    bulkRows: (left) => Math.min(left, mostRows),
    bulkSource,
    insertAll: (db, insert) => insertAll(db, name, insert),
    insertNumbered: (db, insert, unlessThere) => insertNumbered(db, name, insert, unlessThere),
    updateAll: (db, update) => updateAll(db, name, update),
    due(query, time, parameter) {
      const { without } = query
      const left = without.length === 0 ? '' : `and not ${oneOf('q.id', 'integer', without, parameter)}`
      return dueText(name, query, time, left, parameter)
    },
    // Limit and order make a separate index search for each integration: no plan joins or counts the whole backlog.
    pending: (atMost: number) => sql<{ pending: Integer }>`
        select count(*) as pending from (
          select 1 from ${sql.raw(name('integrations'))} i cross join (values (0), (1), (2)) l (lane) cross join lateral (
            select 1 from ${sql.raw(name('outbox'))} q
            where q.lane = l.lane and q.integration = i.address
            order by q.due_at, q.id limit ${atMost}
          ) d
          where i.enabled = 1 and i.notification_url is not null limit ${atMost}
        ) counted`,
    // INSERT locks the table before it assigns an id, until its transaction ends. The snapshot of the statement is
    // older than the locks that it reads, so a transaction outside both has ended, and later statements see its rows.
    newestAndWriters: (table) => `select (select coalesce(max(id), 0) from ${name(table)}) as newest,
      (select coalesce(json_agg(l.virtualtransaction), '[]')::text from pg_catalog.pg_locks l
       where l.locktype = 'relation' and l.relation = '${name(table)}'::regclass and l.mode = 'RowExclusiveLock'
         and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())) as writers`,
    runningTransactions: `select pg_snapshot_xmax(pg_current_snapshot())::text as next,
      pg_snapshot_xmin(pg_current_snapshot())::text as oldest`,
    lock: (db, lock) => lockRow(db, name, lock),
    lastAssigned,
    async estimateRows(db, table) {
      // The table itself or its partitions.
      const found = sql<{
        rows: number
      }>`select sum(greatest(c.reltuples, 0))::float8 as rows from pg_catalog.pg_class c
        where c.oid in (select relid from pg_partition_tree(to_regclass(${name(table)})))
          or c.oid = to_regclass(${name(table)})`
      return (await found.execute(db)).rows[0]?.rows ?? null
    },
    hasTable,
    partitions: postgresPartitions({ name, hasTable, lastAssigned }),
  }
}

const oneOf: SqlDialect['oneOf'] = (column, type, values, parameter) =>
  `${column} = any(${parameter(arrayLiteral(values, type))}::${arrayTypes[type]})`

function bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]): BulkSource {
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${arrayTypes[type]}`)
  const literal = ({ type }: BulkColumn, index: number) =>
    arrayLiteral(
      rows.map((row) => row[index]),
      type,
    )
  return {
    sql: `select * from unnest(${arrays.join(', ')})`,
    parameters: columns.map(literal),
  }
}
