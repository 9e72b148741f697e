/** An open SQLite connection with its prepared statements. @module */
import type { RawRows } from '../internal/row-view.js'
import type { SqliteDatabase } from './binding.js'
import { type RowReader, readRowsOf } from './read-rows.js'

// A statement of a bulk insert takes a few hundred kilobytes; the store has about 60 texts.
const mostStatements = 128

/** A connection that caches its prepared statements. */
export interface SqliteHandle {
  /** Runs one statement and returns its rows, if any. */
  all(sql: string, parameters?: readonly unknown[]): unknown[]
  /** The same with rows as arrays, which cost less. */
  raw(sql: string, parameters: readonly unknown[]): RawRows
  /** Runs one statement without rows and returns the number of written rows. */
  run(sql: string, parameters: readonly unknown[]): number
  /** Runs a statement without parameters and rows, unprepared. */
  exec(sql: string): void
  close(): void
}

/** Wraps a database. */
export function createHandle(database: SqliteDatabase): SqliteHandle {
  const statements = new Map<string, RowReader>()
  const prepare = (sql: string) => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    // A map keeps the order of insertion: the first key is the oldest.
    const [oldest] = statements.keys()
    if (statements.size >= mostStatements && oldest !== undefined) statements.delete(oldest)
    const statement = readRowsOf(database.prepare(sql))
    statements.set(sql, statement)
    return statement
  }
  return {
    all: (sql, parameters = []) => prepare(sql).objects(parameters),
    raw: (sql, parameters) => prepare(sql).raw(parameters),
    run: (sql, parameters) => prepare(sql).run(parameters),
    exec: (sql) => database.exec(sql),
    close() {
      statements.clear()
      database.close()
    },
  }
}
