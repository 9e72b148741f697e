/** Creates the embedded store. @module */
import type { Clock, IdSource, Store } from '@payment-integration/core/ports'
import { type Driver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import { createStore } from '../create-store.js'
import { type Engine, withDialect } from '../engine.js'
import { checkInteger } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'
import { sqliteDialect } from './sqlite-dialect.js'
import { readWith, SqliteReadDriver, SqliteWriteDriver } from './sqlite-driver.js'
import { createSqliteFile, type SqliteFile } from './sqlite-file.js'

/** The file of the database, and the limit of a wait. */
export interface SqliteStoreOptions {
  /**
   * Path of the database file. A missing file is created with mode 0600; a missing folder is not. An existing file
   * keeps its mode, and the files `-wal` and `-shm` have the same.
   */
  readonly path: string
  /** Clock of leases. @default Date */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Makes unique lease tokens. @default random UUIDs */
  readonly ids?: IdSource | undefined
  /** Longest wait for the file's lock, in milliseconds; it does not block the event loop. @default 5000 */
  readonly busyTimeoutMs?: number | undefined
  /**
   * Whether each commit is synced to the disk. False: a loss of power can corrupt the file. For tests alone.
   * @default true
   */
  readonly synced?: boolean | undefined
}

/** Defaults of {@link SqliteStoreOptions}. */
export const sqliteStoreDefaults = { busyTimeoutMs: 5_000, synced: true } as const

/**
 * Creates a store in one SQLite file, in WAL mode. Commits are synced to disk, except claims. The first call opens it.
 * @throws TypeError When `path` names no file on a disk: an in-memory database is not durable.
 * @throws RangeError When `busyTimeoutMs` is not a whole number of milliseconds. Its methods reject with StoreError:
 * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_BUSY`, `ERR_STORE_FULL`, `ERR_STORE_SCHEMA`.
 * @example
 * import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
 * const store = createSqliteStore({ path: './payments.db' })
 */
export function createSqliteStore(options: SqliteStoreOptions): Store {
  const { path, clock = Date, ids } = options
  const { busyTimeoutMs = sqliteStoreDefaults.busyTimeoutMs, synced = sqliteStoreDefaults.synced } = options
  if (typeof path !== 'string' || path.trim() === '' || path === ':memory:' || /^file:/i.test(path))
    throw new TypeError(`path is ${JSON.stringify(path)}; pass the path of a file, such as './payments.db'.`)
  checkInteger(busyTimeoutMs, 'busyTimeoutMs')
  const engine = createSqliteEngine(createSqliteFile(path, busyTimeoutMs, synced), clock)
  return createStore(engine, ids)
}

export function createSqliteEngine(file: SqliteFile, clock: Pick<Clock, 'now'>): Engine {
  const createKysely = (driver: Driver) =>
    new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => driver,
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    })
  const dialect = sqliteDialect(clock)
  const write = createKysely(new SqliteWriteDriver(file))
  const writeWithoutSync = createKysely(new SqliteWriteDriver(file, 'normal'))
  return {
    dialect,
    read: withDialect(createKysely(new SqliteReadDriver(file)), dialect),
    rows: ({ sql, parameters }) => readWith(file, (reader) => reader.raw(sql, parameters)),
    transaction: (work, { durable = true } = {}) =>
      (durable ? write : writeWithoutSync).transaction().execute((tx) => work(withDialect(tx, dialect))),
    // Each step is a transaction, which locks the file.
    runExclusively: (work) => work(),
    async hasIndex(name) {
      const text = `select 1 from sqlite_schema where type = 'index' and name = ?`
      return (await readWith(file, (reader) => reader.raw(text, [name]))).values.length > 0
    },
    createIndex: ({ name, table, columns }) =>
      write.transaction().execute(async (db) => {
        await sql.raw(`create index if not exists "${name}" on "${table}" ${columns}`).execute(db)
      }),
    // Another process on the file polls by itself.
    announceDue: () => undefined,
    whenDue: () => () => undefined,
    close: () => file.close(),
  }
}
