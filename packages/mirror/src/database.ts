/** Types of the database drivers, so that no driver is a dependency, and the names of the tables. @module */
import type { PgClient, PgPool } from '@payment-integration/version-store/postgres'

/** The used part of a connection of `node:sqlite`, `@photostructure/sqlite`, `libsql` or `better-sqlite3`. */
export interface MirrorSqlite {
  exec(sql: string): unknown
  prepare(sql: string): { all(...values: (string | number | null)[]): unknown[] }
}

/**
 * A pool or a connected client of `pg`, or an open SQLite connection. Each write is one statement and begins no
 * transaction. Inside a transaction of yours on the same client or connection, it would share your rollback: give the
 * mirror a connection of its own.
 */
export type MirrorDatabase = PgPool | PgClient | MirrorSqlite

/** The two kinds of database. */
export type Dialect = 'postgres' | 'sqlite'

/** The names of the tables: `<prefix>payments` and `<prefix>state`. Lower-case letters, digits and underscores. */
export interface TableOptions {
  /** PostgreSQL: an existing schema. @default the first one of the search path */
  readonly schema?: string | undefined
  /** Begins the name of each table, so that a `payments` table of your own stays apart. @default 'mirror_' */
  readonly prefix?: string | undefined
}
