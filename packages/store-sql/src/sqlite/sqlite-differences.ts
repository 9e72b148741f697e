/** SQL of the SQLite side. @module */
import { type RawBuilder, sql } from 'kysely'
import type { BulkColumn, BulkSource, Differences, DueDelivery, DueQuery } from '../engine.js'
import { sqliteTypes } from '../schema/column-types.js'
import type { Integer } from '../schema/tables.js'
import { insertAll, insertPayments } from './bulk-insert.js'

// SQLite's limit is 32,766 parameters; beyond some hundred rows a longer statement gains nothing.
const mostParameters = 32_766
const mostRows = 256

/** @param now - The clock of leases, in unix milliseconds. */
export function sqliteDifferences(now: () => number): Differences {
  const name = (table: string) => `"${table}"`
  return {
    types: sqliteTypes,
    name,
    now: () => sql<number>`${now()}`,
    nowText: (parameter) => parameter(now()),
    // BEGIN IMMEDIATE holds the whole file: rows, chains and the schema need no lock of their own.
    forUpdate: sql``,
    lockRows: () => '',
    forUpdateSkipLocked: sql``,
    lockChain: async () => undefined,
    beginMigration: async () => undefined,
    async hasTable(db, table) {
      const found = sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`
      return (await found.execute(db)).rows.length > 0
    },
    placeholder: () => '?',
    // Powers of two: few different texts occur, so that each is prepared once.
    bulkRows: (left, columns) =>
      2 ** Math.floor(Math.log2(Math.min(left, mostRows, Math.floor(mostParameters / columns)))),
    bulkSource,
    insertAll,
    insertPayments,
    due: (query) => due(query, now()),
    pending: (atMost) => sql<{ pending: Integer }>`
      select count(*) as pending from (
        select 1 from integrations i cross join deliveries d
        where i.enabled = 1 and i.notification_url is not null and d.status = 'pending' and d.integration = i.address
        limit ${atMost}
      )`,
  }
}

function bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]): BulkSource {
  const row = `(${columns.map(() => '?').join(', ')})`
  return { sql: `values ${rows.map(() => row).join(', ')}`, parameters: rows.flat() }
}

// CROSS JOIN keeps the order of the loops: per integration one index search, cut to the limit.
function due({ lane, after, limit }: DueQuery, now: number): RawBuilder<DueDelivery> {
  return sql<DueDelivery>`
    select d.id, d.due_at from integrations i cross join deliveries d
    where i.enabled = 1 and i.notification_url is not null and d.id in (
      select q.id from deliveries q
      where q.status = 'pending' and q.integration = i.address and q.lane = ${lane} and q.due_at <= ${now}
        and (q.due_at, q.id) > (${after.dueAt}, ${after.id})
      order by q.due_at, q.id limit ${limit}
    )
    order by d.due_at, d.id limit ${limit}`
}
