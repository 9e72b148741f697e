/** A fixture for any driver of SQLite, so that a runtime that brings its own can be tested where it runs. @module */
import type { SqliteDatabase } from '../sqlite-database.js'
import { createSqliteVersionStore } from '../sqlite-version-store.js'
import type { Faults } from './faults.js'
import type { ConformanceFixture } from './fixture.js'

/** The part of a connection that the fixture uses beyond the store's. */
export interface SqliteTestDatabase extends SqliteDatabase {
  close(): void
}

/**
 * Makes a fixture on a fresh connection, which it closes.
 *
 *
 * @param remove - Removes the database file, if there is one.
 * @example
 * const open = (faults) => createSqliteFixture(new Database(':memory:'), faults)
 * versionStoreConformance('bun:sqlite', open, { test })
 */
export async function createSqliteFixture(
  database: SqliteTestDatabase,
  faults: Faults,
  remove: () => void = () => {},
): Promise<ConformanceFixture<SqliteDatabase>> {
  database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT NOT NULL)')
  return {
    store: createSqliteVersionStore({ database: faulty(database, faults), busyTimeoutMs: 60_000 }),
    write: (tx, note) => void tx.prepare('INSERT INTO notes (note) VALUES (?)').run(note),
    notes: async () =>
      database
        .prepare('SELECT note FROM notes ORDER BY id')
        .all()
        .map((row) => (row as { note: string }).note),
    close() {
      database.close()
      remove()
    },
  }
}

/** The connection, with its operations sent through the faults. Without a wire, a lost operation has just failed. */
function faulty(database: SqliteDatabase, { operation }: Faults): SqliteDatabase {
  const through = (statement: ReturnType<SqliteDatabase['prepare']>) => ({
    get: (...values: (string | number)[]) => operation(() => statement.get(...values)),
    run: (...values: (string | number)[]) => operation(() => statement.run(...values)),
    all: (...values: (string | number)[]) => operation(() => statement.all(...values)),
  })
  return {
    exec: (sql) => operation(() => database.exec(sql)),
    prepare: (sql) => through(operation(() => database.prepare(sql))),
    get isTransaction() {
      return database.isTransaction ?? database.inTransaction
    },
  } as SqliteDatabase
}
