/** The SQL dialect of SQLite. @module */
import { sql } from 'kysely'
import type { BulkColumn, BulkSource, SqlDialect } from '../engine.js'
import { bytes } from '../internal/values.js'
import { sqliteTypes } from '../schema/column-types.js'
import type { Integer } from '../schema/integer.js'
import { insertAll, insertNumbered, storedRows } from './bulk-insert.js'
import { updateAll } from './bulk-update.js'
import { dueText } from './due.js'

// SQLite's limit is 32,766 parameters; above some hundred rows a longer statement is no faster.
const mostParameters = 32_766
const mostRows = 256

/** @param now - The clock of leases, in unix milliseconds. */
export function sqliteDialect(now: () => number): SqlDialect {
  const name = (table: string) => `"${table}"`
  return {
    types: sqliteTypes,
    name,
    now: () => sql<number>`${now()}`,
    nowText: (parameter) => parameter(now()),
    moment() {
      const at = now()
      return (parameter) => parameter(at)
    },
    // BEGIN IMMEDIATE locks the whole file: rows, chains and the schema need no own lock.
    forUpdate: sql``,
    lockRows: () => '',
    skipLocked: () => '',
    waitAtMost: async () => undefined,
    oneOf,
    indexRange: (first, second, { value, from, upTo }, parameter) =>
      `${first} = ${parameter(value)} and ${second} >= ${parameter(from)} and ${second} <= ${parameter(upTo)}`,
    hexText: (column) => `'0x' || lower(hex(${column}))`,
    bytesText: (column) => column,
    bytesOf: (read) => bytes(read as Uint8Array),
    // One transaction writes at a time, so ids are committed in their order.
    newestAndWriters: (table) => `select coalesce(max(id), 0) as newest, '[]' as writers from ${name(table)}`,
    // A transaction that writes here has waited for all others.
    runningTransactions: `select '0' as next, '0' as oldest`,
    lock: async () => undefined,
    lastAssigned: (table) => `coalesce((select seq from sqlite_sequence where name = '${table}'), 0)`,
    estimateRows: async () => null,
    async hasTable(db, table) {
      const found = sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`
      return (await found.execute(db)).rows.length > 0
    },
    partitions: null,
    // Numbered, so that a statement may use a value several times and in any order.
    placeholder: (n) => `?${n}`,
    // Powers of two, so that there are few texts, each prepared once.
    bulkRows: (left, columns) =>
      2 ** Math.floor(Math.log2(Math.min(left, mostRows, Math.floor(mostParameters / columns)))),
    bulkSource,
    insertAll,
    insertNumbered,
    updateAll,
    due(query, time, parameter) {
      const { without } = query
      const left = without.length === 0 ? '' : `and not ${oneOf('q.id', 'integer', without, parameter)}`
      return dueText(query, time, left, parameter)
    },
    pending: (atMost) => sql<{ pending: Integer }>`
      select count(*) as pending from (
        select 1 from integrations i cross join (select 0 as lane union all select 1 union all select 2) l
          cross join outbox d
        where i.enabled = 1 and i.notification_url is not null
          and d.lane = l.lane and d.integration = i.address
        limit ${atMost}
      )`,
  }
}

function bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]): BulkSource {
  const row = `(${columns.map(() => '?').join(', ')})`
  return { sql: `values ${rows.map(() => row).join(', ')}`, parameters: storedRows(columns, rows).flat() }
}

// One text for any number of values, so that it is prepared once.
const oneOf: SqlDialect['oneOf'] = (column, type, values, parameter) => {
  const value = type === 'hex' ? 'unhex(substr(value, 3))' : 'value'
  return `${column} in (select ${value} from json_each(${parameter(JSON.stringify(values))}))`
}
