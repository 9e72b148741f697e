/** Changes many rows of PostgreSQL by one statement with an array per column. @module */
import { CompiledQuery } from 'kysely'
import type { BulkUpdate, Connection, SqlDialect } from '../engine.js'
import { columnSource } from './column-source.js'

/** Changes rows by their id. */
export async function updateAll(db: Connection, name: SqlDialect['name'], update: BulkUpdate): Promise<void> {
  const { table, columns, fixed, rows } = update
  if (rows.length === 0) return
  // The id comes first: its column is always an array, which gives the number of rows.
  const given = [{ name: 'id', type: 'integer' } as const, ...columns]
  const { values, source, parameters } = columnSource(
    { columns: given },
    rows.map((row) => [row.at(-1), ...row.slice(0, -1)]),
  )
  const set = [...columns.map((column, index) => `${column.name} = ${values[index + 1]}`), ...fixed].join(', ')
  await db.executeQuery(
    CompiledQuery.raw(`update ${name(table)} t set ${set} from ${source} where t.id = ${values[0]}`, parameters),
  )
}
