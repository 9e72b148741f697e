/** Changing many rows of SQLite: one prepared statement, run for each row. @module */
import type { BulkUpdate, Connection } from '../engine.js'
import { RepeatedQuery } from './repeated-query.js'

/** Changes rows by their id. */
export async function updateAll(db: Connection, { table, columns, fixed, rows }: BulkUpdate): Promise<void> {
  if (rows.length === 0) return
  const set = [...columns.map(({ name }) => `${name} = ?`), ...fixed].join(', ')
  await db.executeQuery(new RepeatedQuery(`update "${table}" set ${set} where id = ?`, rows))
}
