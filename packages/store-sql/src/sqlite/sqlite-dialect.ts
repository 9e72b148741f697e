/** The SQL dialect of SQLite: due deliveries, and statements over many rows. @module */
import type { Clock } from '@payment-integration/core/ports'
import { type RawBuilder, sql } from 'kysely'
import { scanName, scanText } from '../deliveries/candidates.js'
import type {
  BulkColumn,
  BulkInsert,
  Connection,
  DueQuery,
  DueScan,
  InsertedIds,
  Lane,
  Parameter,
  SqlDialect,
} from '../engine.js'
import { TextQuery } from '../internal/statements.js'
import { parseHex, parseKey, toNumber, toPlainBytes } from '../internal/values.js'
import { type Integer, sqliteTypes } from '../schema/migration.js'

/** CROSS JOIN fixes the order of loops: a skip scan over the integrations, then a limited index search for each. */
function dueText(query: DueQuery, now: string, parameter: Parameter): string {
  const { scans, includesProbes, maxIntegrations, maxPerIntegration, excludedIds } = query
  const exclusion = excludedIds.length === 0 ? '' : `and not ${matchOneOf('q.id', 'integer', excludedIds, parameter)}`
  const integrationLimit = parameter(maxIntegrations)
  const perIntegrationLimit = parameter(maxPerIntegration)
  const mayBeNotified = 'i.enabled = 1 and i.notification_url is not null'
  const due = (lane: Lane, integration: string) => `from outbox q
    where q.lane = ${lane} and q.integration = ${integration} and q.due_at <= ${now} ${exclusion}`
  const oldest = (lane: Lane, limit: string) =>
    `select q.id ${due(lane, 'i.address')} order by q.due_at, q.id limit ${limit}`
  const selectDue = ({ lane, upTo }: DueScan) => `select d.id, d.due_at, w.address as integration, ${lane} as lane,
      0 as probe, w.notification_url
    from (
      select i.address, i.notification_url from ${scanName(lane)} w cross join integrations i
      where w.integration <= ${parameter(parseKey(upTo))} and i.address = w.integration and ${mayBeNotified}
        ${lane === 2 ? '' : notBlocked} and exists (select 1 ${due(lane, 'i.address')})
      limit ${integrationLimit}
    ) w cross join outbox d
    where d.id in (${oldest(lane, perIntegrationLimit).replaceAll('i.address', 'w.address')})`
  // One index search shows whether a blocked integration has a delivery to probe with.
  const probe = (lane: Lane) => `select d.id, d.due_at, i.address as integration, 1 as lane, 1 as probe,
      i.notification_url
    from (
      select i.address, i.notification_url from endpoints e cross join integrations i
      where e.blocks > 0 and e.blocked_until <= ${now} and i.address = e.integration and ${mayBeNotified}
        and exists (select 1 ${due(lane, 'i.address')})
      order by e.blocked_until limit ${integrationLimit}
    ) i cross join outbox d
    where d.id = (${oldest(lane, '1')})`
  const parts = [...scans.map(selectDue), ...(includesProbes ? [probe(0), probe(1)] : [])]
  const tables = scans.map((scan) => scanText('outbox', scan, parameter))
  return `with recursive ${tables.join(', ')} ${parts.join(' union all ')}`
}

const notBlocked = 'and not exists (select 1 from endpoints e where e.integration = i.address and e.blocks > 0)'

/**
 * One prepared statement, run once per row. In SQLite that costs half as much as one statement with many rows, whose
 * thousands of parameters take long to bind.
 */
export class RepeatedQuery extends TextQuery {
  /** The parameters of each run. */
  readonly rows: readonly (readonly unknown[])[]

  constructor(sql: string, rows: readonly (readonly unknown[])[]) {
    super(sql, [])
    this.rows = rows
  }
}

/**
 * Inserts rows with consecutive ids: no other connection writes until the transaction ends, so the ids can be computed,
 * while returning them would cost as much as the insert. `sqlite_sequence` includes the ids of removed rows.
 */
async function insertNumbered(db: Connection, insert: BulkInsert, uniqueColumns?: string): Promise<InsertedIds> {
  const highest: RawBuilder<{ id: Integer }> = sql`select max(
    coalesce((select max(id) from ${sql.table(insert.table)}), 0),
    coalesce((select seq from sqlite_sequence where name = ${insert.table}), 0)) as id`
  const last = toNumber((await highest.execute(db)).rows[0]?.id ?? 0)
  const unless = uniqueColumns === undefined ? '' : ` on conflict (${uniqueColumns}) do nothing`
  const inserted = await insertRows(db, insert, unless)
  return {
    ids: inserted === insert.rows.length ? insert.rows.map((_, index) => last + 1 + index) : null,
    isNew: (id) => id > last,
  }
}

function toStoredRows(columns: BulkInsert['columns'], rows: BulkInsert['rows']): BulkInsert['rows'] {
  if (columns.every(({ type }) => type !== 'hex')) return rows
  const isHex = columns.map(({ type }) => type === 'hex')
  return rows.map((row) =>
    row.map((value, index) => (isHex[index] === true && value !== null ? parseHex(String(value)) : value)),
  )
}

async function insertRows(db: Connection, insert: BulkInsert, suffix: string): Promise<number> {
  const { table, columns, rows, fixed = [] } = insert
  if (rows.length === 0) return 0
  const names = [...columns, ...fixed].map(({ name }) => name)
  const added: unknown[] = []
  const parameter = (value: unknown) => {
    added.push(value)
    return '?'
  }
  const values = [...columns.map(() => '?'), ...fixed.map(({ value }) => value(parameter))]
  const text = `insert into "${table}" (${names.join(', ')}) values (${values.join(', ')})${suffix}`
  const stored = toStoredRows(columns, rows)
  const parameterRows = added.length === 0 ? stored : stored.map((row) => [...row, ...added])
  const { numAffectedRows } = await db.executeQuery(new RepeatedQuery(text, parameterRows))
  return Number(numAffectedRows ?? 0)
}

// SQLite's limit is 32,766 parameters; beyond a few hundred rows a longer statement is not faster.
const maxParameters = 32_766
const maxRows = 256

/** @param clock - The clock of leases, in unix milliseconds. */
export function sqliteDialect(clock: Pick<Clock, 'now'>): SqlDialect {
  const name = (table: string) => `"${table}"`
  return {
    types: sqliteTypes,
    name,
    now: () => sql<number>`${clock.now()}`,
    nowText: (parameter) => parameter(clock.now()),
    moment() {
      const at = clock.now()
      return (parameter) => parameter(at)
    },
    // BEGIN IMMEDIATE locks the whole file, so rows, chains and the schema need no lock of their own.
    forUpdate: sql``,
    lockRows: () => '',
    skipLocked: () => '',
    waitAtMost: async () => undefined,
    oneOf: matchOneOf,
    indexRange: (first, second, { value, from, upTo }, parameter) =>
      `${first} = ${parameter(value)} and ${second} >= ${parameter(from)} and ${second} <= ${parameter(upTo)}`,
    hexText: (column) => `'0x' || lower(hex(${column}))`,
    bytesText: (column) => column,
    toBytes: (read) => toPlainBytes(read as Uint8Array),
    // Only one transaction writes at a time, so ids are committed in order.
    newestAndWriters: (table) => `select coalesce(max(id), 0) as newest, '[]' as writers from ${name(table)}`,
    // A transaction that writes here has waited for all others.
    runningTransactions: `select '0' as next, '0' as oldest`,
    lock: async () => undefined,
    lastAssigned: (table) => `coalesce((select seq from sqlite_sequence where name = '${table}'), 0)`,
    estimateRows: async () => null,
    async hasTable(db, table) {
      const query = sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`
      return (await query.execute(db)).rows.length > 0
    },
    partitions: null,
    // Numbered, so that a statement may use a value several times and in any order.
    placeholder: (n) => `?${n}`,
    // Powers of two, so that there are few texts to prepare.
    bulkRows: (count, columns) =>
      2 ** Math.floor(Math.log2(Math.min(count, maxRows, Math.floor(maxParameters / columns)))),
    bulkSource,
    insertAll: async (db, insert) => void (await insertRows(db, insert, '')),
    insertNumbered,
    selectDue: dueText,
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

function bulkSource(columns: readonly BulkColumn[], rows: readonly (readonly unknown[])[]) {
  const row = `(${columns.map(() => '?').join(', ')})`
  return { sql: `values ${rows.map(() => row).join(', ')}`, parameters: toStoredRows(columns, rows).flat() }
}

// The same text for any number of values, so that it is prepared once.
const matchOneOf: SqlDialect['oneOf'] = (column, type, values, parameter) => {
  const value = type === 'hex' ? 'unhex(substr(value, 3))' : 'value'
  return `${column} in (select ${value} from json_each(${parameter(JSON.stringify(values))}))`
}
