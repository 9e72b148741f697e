/** Types of the database drivers, so that no driver is a dependency. @module */
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
