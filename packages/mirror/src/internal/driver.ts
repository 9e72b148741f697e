/** Runs one statement at a time on either kind of database. @module */
import type { MirrorDatabase, MirrorSqlite } from '../database.js'
import type { Dialect } from '../table-options.js'
import type { Value } from './columns.js'
import { postgresDriver } from './postgres-driver.js'
import { type SqliteWait, sqliteDriver } from './sqlite-driver.js'

/** A row as drivers give it. */
export type Row = Readonly<Record<string, unknown>>

/** A database behind one shape. */
export interface Driver {
  readonly dialect: Dialect
  /** Runs a statement with a `?` for each value, by itself: it is stored whole or not at all. */
  query(sql: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** Runs statements that create tables, one mirror at a time. */
  create(statements: readonly string[]): Promise<void>
}

/**
 * Chooses by the shape of the database.
 * @throws {TypeError} When the shape is neither.
 */
export function chooseDriver(database: MirrorDatabase, wait: SqliteWait): Driver {
  const given = Object(database) as Readonly<Record<string, unknown>>
  if (typeof given['query'] === 'function' && typeof given['connect'] === 'function')
    return postgresDriver(database as never)
  if (typeof given['prepare'] === 'function' && typeof given['exec'] === 'function')
    return sqliteDriver(database as MirrorSqlite, wait)
  throw new TypeError('database is neither a Pool or Client of pg nor an open SQLite connection; pass one.')
}
