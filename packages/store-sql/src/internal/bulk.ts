/** Runs statements over many rows at once. @module */
import type { BulkColumn, Connection, SqlDialect } from '../engine.js'
import { PreparedQuery } from './prepared-query.js'

/** Writes the statement around the table expression `source`; `parameter` adds a value and returns its placeholder. */
export type BulkStatement = (source: string, parameter: (value: unknown) => string) => string

/**
 * Runs a statement over rows, in as few parts as the database allows, and returns the rows of all parts. A query
 * builder would cost more than the insert itself.
 */
export async function bulk<Row>(
  db: Connection,
  dialect: SqlDialect,
  columns: readonly BulkColumn[],
  rows: readonly (readonly unknown[])[],
  statement: BulkStatement,
): Promise<Row[]> {
  const answers: Row[] = []
  for (let from = 0; from < rows.length; ) {
    const part = rows.slice(from, from + dialect.bulkRows(rows.length - from, columns.length))
    from += part.length
    const { sql, parameters } = dialect.bulkSource(columns, part)
    const text = statement(sql, (value) => dialect.placeholder(parameters.push(value)))
    const { rows: answered } = await db.executeQuery<Row>(new PreparedQuery(text, parameters))
    for (const row of answered) answers.push(row)
  }
  return answers
}
