/**
 * Empty SQLite databases with the current schema. Open databases are emptied and reused, because migrating or opening
 * one takes longer than most tests.
 * @module
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../../src/engine.js'
import { createSqliteStore } from '../../src/exports/sqlite.js'
import { createSqliteEngine } from '../../src/sqlite/create-sqlite-store.js'
import { createSqliteFile, loadSqlite } from '../../src/sqlite/sqlite-file.js'

/** An empty database. */
export interface TestSqlite {
  readonly engine: Engine
  /** Resolves once its file is open. */
  readonly opened: Promise<void>
  readonly path: string
  /** Runs a statement on its own connection, at once. It writes only while no transaction of the engine is open. */
  sql<Row>(text: string, ...parameters: readonly unknown[]): Row[]
  /** Empties the database for another test. */
  release(): void
}

const Database = await loadSqlite()
const folder = mkdtempSync(join(tmpdir(), 'pi-sqlite-'))
// Vitest ends a worker with this signal, which runs no exit handlers.
process.once('SIGTERM', () => process.exit())
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const migrated = join(folder, 'migrated.db')
const migrating = createSqliteStore({ path: migrated, synced: false })
await migrating.migrate()
await migrating.close()

interface OpenDatabase extends Omit<TestSqlite, 'release'> {
  readonly clock: { now: () => number }
  /** Whether a loop of an earlier test still waits for deliveries, and would take those of the next test. */
  isListenedTo(): boolean
  empty(): void
}

const free: OpenDatabase[] = []
let made = 0

/** Takes an empty database. @param clock - In unix milliseconds. */
export function takeSqlite(clock: { now(): number } = Date): TestSqlite {
  const database = free.pop() ?? makeDatabase()
  database.clock.now = () => clock.now()
  return {
    ...database,
    release() {
      try {
        database.empty()
        if (!database.isListenedTo()) free.push(database)
      } catch {
        // A killed process left a transaction open: this database is not used again.
      }
    },
  }
}

function makeDatabase(): OpenDatabase {
  made += 1
  const path = join(folder, `${made}.db`)
  copyFileSync(migrated, path)
  const connection = new Database(path)
  connection.exec('pragma foreign_keys = off; pragma synchronous = off')
  const statements = new Map<string, ReturnType<typeof connection.prepare>>()
  const prepare = (text: string) => {
    const known = statements.get(text) ?? connection.prepare(text)
    statements.set(text, known)
    return known
  }
  const sql = <Row>(text: string, ...parameters: readonly unknown[]) => prepare(text).all(...parameters) as Row[]
  const tables = sql<{ name: string }>(
    `select name from sqlite_schema where type = 'table' and name not in ('schema_versions', 'locks')`,
  )
  const filled = tables.map(({ name }) => `select '${name}' as name where exists (select 1 from "${name}")`)
  const filledTables = () => sql<{ name: string }>(filled.join(' union all ')).map(({ name }) => name)
  if (filledTables().length > 0) throw new Error(`After a migration there are rows in ${filledTables().join()}.`)
  const clock = { now: Date.now }
  const engine = createSqliteEngine(createSqliteFile(path, 5_000, false), clock)
  const listeners = new Set<object>()
  return {
    path,
    sql,
    clock,
    engine: {
      ...engine,
      whenDue(listener) {
        const stop = engine.whenDue(listener)
        listeners.add(stop)
        return () => {
          listeners.delete(stop)
          stop()
        }
      },
    },
    isListenedTo: () => listeners.size > 0,
    opened: engine.rows({ sql: 'select 1', parameters: [] }).then(() => undefined),
    empty() {
      connection.exec('begin immediate')
      for (const name of filledTables()) sql(`delete from "${name}"`)
      connection.exec('commit')
    },
  }
}
