/** One SQLite file: a connection that writes and one that reads, with prepared statements. @module */
import { closeSync, existsSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createClosedError, type RawRows } from '../internal/values.js'
import { createOpenError, isLocked } from './sqlite-error.js'

/** Waits for the mutex; resolves with the function that releases it. */
type Mutex = () => Promise<() => void>

export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve()
  return async () => {
    const before = last
    let release: () => void = () => undefined
    last = new Promise((resolve) => {
      release = resolve
    })
    await before
    return release
  }
}

/**
 * Repeats `attempt` while the file is locked, for `busyTimeoutMs`, then rejects with the last error. SQLite's own busy
 * timeout would block the event loop.
 */
export async function waitForLock<T>(busyTimeoutMs: number, attempt: () => T): Promise<T> {
  let deadline: number | undefined
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 20)) {
    try {
      return attempt()
    } catch (error) {
      if (!isLocked(error)) throw error
      const now = performance.now()
      deadline ??= now + busyTimeoutMs
      if (now >= deadline) throw error
    }
    await delay(waitMs)
  }
}

export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[]
  /** Runs the statement without reading rows; `changes` is the number of written rows. */
  run(...parameters: unknown[]): { readonly changes: number | bigint }
  /** Makes the statement return rows as arrays. Not on every runtime. */
  setReturnArrays?(on: boolean): void
  /** The columns of a row, in order. Not on every runtime. */
  columns?(): readonly { readonly name: string | null }[]
}

interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}

export type SqliteConstructor = new (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase

export async function loadSqlite(): Promise<SqliteConstructor> {
  if (hasBuiltin(process.versions.node)) {
    const builtin = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: SqliteConstructor } | undefined
    if (builtin !== undefined) return builtin.DatabaseSync
  }
  const { DatabaseSync } = await import('@photostructure/sqlite')
  return DatabaseSync as unknown as SqliteConstructor
}

/** Node 22.13 is the first release whose `node:sqlite` needs no flag. */
export function hasBuiltin(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13)
}

type RowReader = (parameters: readonly unknown[]) => RawRows

/**
 * Reads rows as arrays, from which `all` builds objects: setting a property from native code costs more than reading
 * the value, and a page has 1,500 of them. If a binding returns objects alone, their values are taken.
 */
function createRowReader(statement: SqliteStatement): RowReader {
  let columns = readColumnNames(statement)
  if (columns === null)
    return (parameters) => {
      const rows = statement.all(...parameters) as object[]
      return { columns: Object.keys(rows[0] ?? {}), values: rows.map(Object.values) }
    }
  statement.setReturnArrays?.(true)
  return (parameters) => {
    const values = statement.all(...parameters) as unknown[][]
    // After a schema change by another connection, `*` may return more columns.
    if (values[0] !== undefined && values[0].length !== columns?.length) columns = readColumnNames(statement)
    return { columns: columns ?? [], values }
  }
}

/** Null if the binding does not report columns, or the statement returns no rows. */
function readColumnNames(statement: SqliteStatement): string[] | null {
  if (statement.setReturnArrays === undefined || statement.columns === undefined) return null
  const names = statement.columns().map(({ name }) => name ?? '')
  return names.length === 0 ? null : names
}

function toObject(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (let index = 0; index < names.length; index += 1) row[names[index] ?? ''] = values[index]
  return row
}

// A statement of a bulk insert takes a few hundred kilobytes; the store has about 60 different statements.
const maxStatements = 128

export interface SqliteHandle {
  /** Runs one statement and returns its rows, if any. */
  all(sql: string, parameters?: readonly unknown[]): unknown[]
  /** Returns the rows of a statement as arrays, which cost less than objects. */
  raw(sql: string, parameters: readonly unknown[]): RawRows
  /** Runs one statement without rows and returns the number of written rows. */
  run(sql: string, parameters: readonly unknown[]): number
  /** Runs a statement without parameters and rows, unprepared. */
  exec(sql: string): void
  close(): void
}

export function createHandle(database: SqliteDatabase): SqliteHandle {
  const statements = new Map<string, { readonly statement: SqliteStatement; readonly read: RowReader }>()
  const prepare = (sql: string) => {
    const cached = statements.get(sql)
    if (cached !== undefined) return cached
    // A map keeps the order of insertion: the first key is the oldest.
    const [oldest] = statements.keys()
    if (statements.size >= maxStatements && oldest !== undefined) statements.delete(oldest)
    const statement = database.prepare(sql)
    const prepared = { statement, read: createRowReader(statement) }
    statements.set(sql, prepared)
    return prepared
  }
  return {
    all(sql, parameters = []) {
      const { columns, values } = prepare(sql).read(parameters)
      return values.map((each) => toObject(columns, each))
    },
    raw: (sql, parameters) => prepare(sql).read(parameters),
    run: (sql, parameters) => Number(prepare(sql).statement.run(...parameters).changes),
    exec: (sql) => database.exec(sql),
    close() {
      statements.clear()
      database.close()
    },
  }
}

/** Two connections: in WAL mode a reader sees the last commit and never waits for a writer. */
interface OpenFile {
  readonly writer: SqliteHandle
  readonly reader: SqliteHandle
  /** Sets whether the writer's next commits are synced at once; between transactions only. */
  synchronize(level: Synchronous): void
}

/**
 * `full`: each commit is synced to disk. `normal`: the next `full` commit or checkpoint syncs it; before that a loss of
 * power may undo it.
 */
export type Synchronous = 'full' | 'normal'

export interface SqliteFile {
  readonly busyTimeoutMs: number
  /** Locks the writing connection, from BEGIN to COMMIT. */
  readonly lockWriter: Mutex
  /** @throws StoreError `ERR_STORE_UNAVAILABLE` when it cannot be opened, or was closed; `ERR_STORE_BUSY`. */
  open(): Promise<OpenFile>
  /** The open connections, without a wait; undefined before the open and after `close`. */
  opened(): OpenFile | undefined
  /** Waits for the running transaction, then closes both connections. */
  close(): Promise<void>
}

export function createSqliteFile(path: string, busyTimeoutMs: number, synced = true): SqliteFile {
  const lockWriter = createMutex()
  let opening: Promise<OpenFile> | undefined
  let ready: OpenFile | undefined
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    const release = await lockWriter()
    try {
      const open = await opening?.catch(() => undefined)
      open?.reader.close()
      if (open !== undefined) copyLog(open.writer)
      open?.writer.close()
    } finally {
      release()
    }
  }

  return {
    busyTimeoutMs,
    lockWriter,
    async open() {
      if (closing !== undefined) throw createClosedError()
      opening ??= openFile(path, busyTimeoutMs, synced).catch((error: unknown) => {
        opening = undefined
        throw createOpenError(path, error)
      })
      ready = await opening
      return ready
    },
    opened: () => (closing === undefined ? ready : undefined),
    close() {
      closing ??= close()
      return closing
    },
  }
}

// SQLite itself copies the log when the last connection closes, but a connection with uncollected statements stays
// half open. A failure is harmless: the next open reads the log.
function copyLog(writer: SqliteHandle): void {
  try {
    writer.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // Closing the store must not fail.
  }
}

/** Page cache of the reading connection, in negative KiB: 32 MiB instead of 2. */
const readerCache = 'pragma cache_size = -32768'
/** Page cache of the writing connection. A larger one would make a bulk insert only 1 % faster. */
const writerCache = 'pragma cache_size = -16384'
/** Pages of 4 KiB in the log before a checkpoint: 32 MiB, because a bulk insert writes the same pages repeatedly. */
const checkpointEvery = 'pragma wal_autocheckpoint = 8192'
// WAL with synchronous=FULL syncs every commit to disk. Without fullfsync, macOS may leave it in the disk's cache.
const settings = [
  'pragma synchronous = full',
  'pragma fullfsync = on',
  'pragma foreign_keys = on',
  'pragma trusted_schema = off',
  'pragma journal_size_limit = 67108864',
  checkpointEvery,
  writerCache,
]

async function openFile(path: string, busyTimeoutMs: number, synced: boolean): Promise<OpenFile> {
  const Database = await loadSqlite()
  const opened: SqliteHandle[] = []
  const open = (readOnly: boolean) => {
    const handle = createHandle(new Database(path, { readOnly }))
    opened.push(handle)
    return handle
  }
  try {
    createMissing(path)
    const writer = open(false)
    const [mode] = await waitForLock(busyTimeoutMs, () => writer.all('pragma journal_mode = wal'))
    if ((mode as { journal_mode: string }).journal_mode !== 'wal')
      throw new Error('this file system does not support a write-ahead log')
    for (const setting of settings) writer.exec(setting)
    if (!synced) writer.exec('pragma synchronous = off')
    const reader = await waitForLock(busyTimeoutMs, () => open(true))
    reader.exec(readerCache)
    let synchronous: Synchronous = 'full'
    return {
      writer,
      reader,
      synchronize(level) {
        if (synced && level !== synchronous) writer.exec(`pragma synchronous = ${level}`)
        synchronous = level
      },
    }
  } catch (error) {
    for (const handle of opened) handle.close()
    throw error
  }
}

/** The file has payments and hashes of secrets. SQLite gives its log and index the same mode. */
const ownerOnly = 0o600

/**
 * Creates a missing file, because SQLite would make it readable for every user of the machine. An existing file keeps
 * its mode and is not opened: closing it would release this process's locks on it (POSIX `fcntl`).
 */
function createMissing(path: string): void {
  if (existsSync(path)) return
  try {
    // Not exclusively: the path may be a symbolic link to a missing file.
    closeSync(openSync(path, 'a', ownerOnly))
  } catch {
    // SQLite then fails too, and its error is reported.
  }
}
