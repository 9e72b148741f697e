/** Inserts many rows into SQLite by one prepared statement, run for each row. @module */
import { type RawBuilder, sql } from 'kysely'
import type { BulkInsert, Connection, InsertedIds } from '../engine.js'
import { hexBytes } from '../internal/hex.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { RepeatedQuery } from './repeated-query.js'

/** Inserts rows in their order. */
export async function insertAll(db: Connection, insert: BulkInsert): Promise<void> {
  await insertRows(db, insert, '')
}

/**
 * Inserts rows with assigned ids. SQLite assigns the next id to each row, and no other connection writes until the
 * transaction ends. Returning the ids would cost as much as the insert. `sqlite_sequence` has the ids of removed rows.
 */
export async function insertNumbered(db: Connection, insert: BulkInsert, unlessThere?: string): Promise<InsertedIds> {
  const highest: RawBuilder<{ id: Integer }> = sql`select max(
    coalesce((select max(id) from ${sql.table(insert.table)}), 0),
    coalesce((select seq from sqlite_sequence where name = ${insert.table}), 0)) as id`
  const last = integer((await highest.execute(db)).rows[0]?.id ?? 0)
  const inserted = await insertRows(
    db,
    insert,
    unlessThere === undefined ? '' : ` on conflict (${unlessThere}) do nothing`,
  )
  return {
    ids: inserted === insert.rows.length ? insert.rows.map((_, place) => last + 1 + place) : null,
    isNew: (id) => id > last,
  }
}

/** Rows with the bytes of `0x` text. */
export function storedRows(columns: BulkInsert['columns'], rows: BulkInsert['rows']): BulkInsert['rows'] {
  if (columns.every(({ type }) => type !== 'hex')) return rows
  const isHex = columns.map(({ type }) => type === 'hex')
  return rows.map((row) =>
    row.map((value, index) => (isHex[index] === true && value !== null ? hexBytes(String(value)) : value)),
  )
}

/** @returns The number of inserted rows. */
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
  const stored = storedRows(columns, rows)
  const given = added.length === 0 ? stored : stored.map((row) => [...row, ...added])
  const { numAffectedRows } = await db.executeQuery(new RepeatedQuery(text, given))
  return Number(numAffectedRows ?? 0)
}
