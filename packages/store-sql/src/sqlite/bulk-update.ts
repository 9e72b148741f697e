/** Changes many rows of SQLite. @module */
import { CompiledQuery } from 'kysely'
import type { BulkUpdate, Connection } from '../engine.js'

/** Changes rows by their id, with one statement for all rows of the same new values. */
export async function updateAll(db: Connection, { table, columns, fixed, rows }: BulkUpdate): Promise<void> {
  const set = [...columns.map(({ name }) => `${name} = ?`), ...fixed].join(', ')
  const text = `update "${table}" set ${set} where id in (select value from json_each(?))`
  for (const { values, ids } of byValues(rows))
    await db.executeQuery(CompiledQuery.raw(text, [...values, JSON.stringify(ids)]))
}

/** Rows by their new values. */
function byValues(rows: BulkUpdate['rows']) {
  const groups = new Map<string, { readonly values: readonly unknown[]; readonly ids: unknown[] }>()
  for (const row of rows) {
    const values = row.slice(0, -1)
    const key = JSON.stringify(values)
    const group = groups.get(key) ?? { values, ids: [] }
    groups.set(key, group)
    group.ids.push(row.at(-1))
  }
  return groups.values()
}
