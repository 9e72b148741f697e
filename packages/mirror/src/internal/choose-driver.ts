/** Tells the drivers apart by their shape. @module */
import type { MirrorDatabase, MirrorSqlite } from '../database.js'
import type { Driver } from './driver.js'
import { postgresDriver } from './postgres-driver.js'
import { type SqliteWait, sqliteDriver } from './sqlite-driver.js'

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
