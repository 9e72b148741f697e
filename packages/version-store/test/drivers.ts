/** The SQLite drivers that this machine has, behind one shape. @module */
import { createRequire } from 'node:module'
import { DatabaseSync as PhotostructureDatabase } from '@photostructure/sqlite'
import LibsqlDatabase from 'libsql'
import type { SqliteTestDatabase as TestDatabase } from '../src/conformance/fixture.js'

export type { TestDatabase }

/** A driver by name. */
export interface Driver {
  readonly name: string
  readonly open: (path: string) => TestDatabase
}

/** `node:sqlite` where this version of Node brings it: from 22.13 on. */
function builtIn(): Driver[] {
  const name = 'node:sqlite'
  const load = createRequire(import.meta.url)
  try {
    const { DatabaseSync } = load(name) as { DatabaseSync: new (path: string) => TestDatabase }
    return [{ name, open: (path) => new DatabaseSync(path) }]
  } catch {
    return []
  }
}

const bundled: Driver = {
  name: '@photostructure/sqlite',
  open: (path) => new PhotostructureDatabase(path) as unknown as TestDatabase,
}

/** It has the API of better-sqlite3, which needs a compiler to install. */
const libsql: Driver = { name: 'libsql', open: (path) => new LibsqlDatabase(path) as unknown as TestDatabase }

export const drivers: readonly [Driver, ...Driver[]] = [bundled, libsql, ...builtIn()]

/** Opens a database as a receiver would: WAL, one table of effects beside the versions. */
export function openReceiverDatabase(open: (path: string) => TestDatabase, path: string): TestDatabase {
  const database = open(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  database.exec('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, note TEXT NOT NULL)')
  return database
}

/** The kept notes, in writing order. */
export function getNotes(database: TestDatabase): string[] {
  return database
    .prepare('SELECT note FROM notes ORDER BY id')
    .all()
    .map((row) => (row as { note: string }).note)
}
