/** Runs single statements on PostgreSQL or SQLite, whichever the host passes. @module */
import { StoreBusyError } from '@payment-integration/version-store'
import type { PgClient, PgPool } from '@payment-integration/version-store/postgres'

/** The used part of a connection of `node:sqlite`, `@photostructure/sqlite`, `libsql` or `better-sqlite3`. */
interface MirrorSqlite {
  exec(sql: string): unknown
  prepare(sql: string): { all(...values: (string | number | null)[]): unknown[] }
}

/**
 * A pool or a connected client of `pg`, or an open SQLite connection. Each write is one statement and begins no
 * transaction. Inside a transaction of yours on the same client or connection, a write would share your rollback: give
 * the mirror a connection of its own.
 */
export type MirrorDatabase = PgPool | PgClient | MirrorSqlite

export type Dialect = 'postgres' | 'sqlite'

/** The names of the tables: `<prefix>payments` and `<prefix>state`. Lower-case letters, digits and underscores. */
export interface TableOptions {
  /** PostgreSQL: an existing schema. @default the first one of the search path */
  readonly schema?: string | undefined
  /** Begins the name of each table, so that a `payments` table of your own stays apart. @default 'mirror_' */
  readonly prefix?: string | undefined
}

/** A value of a column, as every driver takes it. */
export type Value = string | number | null

type Row = Readonly<Record<string, unknown>>

/** One API for both databases. */
export interface Driver {
  readonly dialect: Dialect
  /** Runs one statement, with a `?` for each value: all its writes are stored, or none. */
  query(sql: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** Runs statements that create tables, one mirror at a time. */
  create(statements: readonly string[]): Promise<void>
}

/** Number of the advisory lock: any number that others do not use. */
const migrationLock = 5_021_984_734

/** The used part of a pool or a client. */
interface Queryable {
  query(sql: string, values?: readonly Value[]): Promise<{ readonly rows: readonly Row[] }>
}

function createPostgresDriver(database: Queryable): Driver {
  return {
    dialect: 'postgres',
    async query(sql, values = []) {
      let at = 0
      const numbered = sql.replaceAll('?', () => `$${++at}`)
      return (await database.query(numbered, values)).rows
    },
    async create(statements) {
      // A message of several statements is one transaction. Without the lock, two CREATE … IF NOT EXISTS can collide.
      await database.query([`SELECT pg_advisory_xact_lock(${migrationLock})`, ...statements].join(';\n'))
    },
  }
}

/** How long a statement waits for a lock of another connection. */
interface SqliteWait {
  readonly busyTimeoutMs: number
  /** Monotonic, in milliseconds. */
  readonly clock: { now(): number; sleep(ms: number): Promise<void> }
}

const retryEveryMs = 10

/** Makes the driver. Its statements are synchronous, so none interleave. */
export function createSqliteDriver(database: MirrorSqlite, { busyTimeoutMs, clock }: SqliteWait): Driver {
  const prepared = new Map<string, ReturnType<MirrorSqlite['prepare']>>()

  function prepare(sql: string) {
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  async function whileLocked<Result>(run: () => Result): Promise<Result> {
    const deadline = clock.now() + busyTimeoutMs
    for (;;) {
      try {
        return run()
      } catch (error) {
        if (!isBusy(error)) throw error
        if (clock.now() >= deadline) throw new StoreBusyError(busyTimeoutMs, 'lock', error)
        await clock.sleep(retryEveryMs)
      }
    }
  }

  return {
    dialect: 'sqlite',
    query: (sql, values = []) => whileLocked(() => prepare(sql).all(...values) as Row[]),
    async create(statements) {
      for (const sql of statements) await whileLocked(() => database.exec(sql))
    },
  }
}

/** Whether the database is locked. Drivers report this by SQLite's error number (5) or by its name. */
function isBusy(error: unknown): boolean {
  // No `instanceof`: the error of a driver may come from another realm.
  const { code, errcode, message } = Object(error) as { code?: unknown; errcode?: unknown; message?: unknown }
  if (typeof errcode === 'number') return (errcode & 0xff) === 5
  return (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) || /database is locked/.test(String(message))
}

/** Chooses the driver by the methods of the database. @throws {TypeError} When the methods fit neither kind. */
export function chooseDriver(database: MirrorDatabase, wait: SqliteWait): Driver {
  const methods = Object(database) as Readonly<Record<string, unknown>>
  if (typeof methods['query'] === 'function' && typeof methods['connect'] === 'function')
    return createPostgresDriver(database as never)
  if (typeof methods['prepare'] === 'function' && typeof methods['exec'] === 'function')
    return createSqliteDriver(database as MirrorSqlite, wait)
  throw new TypeError('database is neither a Pool or Client of pg nor an open SQLite connection; pass one.')
}
