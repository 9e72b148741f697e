/** The shape that SQLite drivers share. @module */

/** The used part of a connection of `node:sqlite`, `@photostructure/sqlite` or `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): {
    get(...values: (string | number)[]): unknown
    run(...values: (string | number)[]): unknown
    all(...values: (string | number)[]): unknown[]
  }
  /** Whether a transaction is open, as `node:sqlite` says it from 22.16 on. */
  readonly isTransaction?: boolean
  /** Whether a transaction is open, as `better-sqlite3` says it. */
  readonly inTransaction?: boolean
}
