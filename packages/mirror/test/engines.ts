/** The databases of the tests, behind one shape: real SQLite and real PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import LibsqlDatabase from 'libsql'
import pg from 'pg'
import { createTestDatabase } from '../../store-sql/test/postgres.js'
import type { MirrorDatabase } from '../src/exports/index.js'

/** A database of one test file. Tests keep apart by their prefix. */
export interface Engine {
  /** A new connection or pool, as another process has it. */
  connect(): MirrorDatabase
  /** Runs SQL beside the mirrors. */
  query(sql: string): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** A prefix that no other test has. */
export function nextPrefix(): string {
  prefixes += 1
  return `m${prefixes}_`
}
let prefixes = 0

function sqliteEngine(open: (path: string) => unknown) {
  return async (): Promise<Engine> => {
    const folder = mkdtempSync(join(tmpdir(), 'payment-integration-mirror-'))
    const opened: { close(): void }[] = []
    const connect = () => {
      const database = open(join(folder, 'mirror.db')) as DatabaseSyncInstance
      opened.push(database)
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      return database
    }
    const own = connect()
    return {
      connect: () => connect() as unknown as MirrorDatabase,
      query: async (sql) => own.prepare(sql).all() as Record<string, unknown>[],
      async close() {
        for (const database of opened) database.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }
}

/** As better-sqlite3, `all` throws for a statement without rows; the tests themselves create tables with it. */
function openStrict(path: string) {
  const database = new DatabaseSync(path)
  const all = () => {
    throw new TypeError('This statement does not return data. Use run() instead')
  }
  const prepare = (sql: string) => (/^SELECT|^CREATE|RETURNING/.test(sql) ? database.prepare(sql) : { all })
  return { prepare, exec: (sql: string) => database.exec(sql), close: () => database.close() }
}

async function postgresEngine(): Promise<Engine> {
  const database = await createTestDatabase()
  const pools: pg.Pool[] = []
  const connect = () => {
    const pool = new pg.Pool({ connectionString: database.connectionString, max: 4 })
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }
  const own = connect()
  return {
    connect,
    query: async (sql) => (await own.query(sql)).rows,
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
      await database.remove()
    },
  }
}

export const engines = [
  { name: 'SQLite', open: sqliteEngine((path) => new DatabaseSync(path)) },
  { name: 'SQLite as of better-sqlite3', open: sqliteEngine(openStrict) },
  { name: 'libsql', open: sqliteEngine((path) => new LibsqlDatabase(path)) },
  { name: 'PostgreSQL', open: postgresEngine },
] as const
