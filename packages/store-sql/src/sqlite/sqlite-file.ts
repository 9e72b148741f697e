/** One SQLite file: a connection that writes and one that reads. @module */
import { closeSync, existsSync, openSync } from 'node:fs'
import { loadSqlite } from './binding.js'
import { createMutex, type Mutex } from './mutex.js'
import { closedError, openError } from './sqlite-error.js'
import { createHandle, type SqliteHandle } from './sqlite-handle.js'
import { waitForLock } from './wait-for-lock.js'

/** The two connections. In WAL mode a reader sees the last commit and never waits for a writer. */
export interface OpenFile {
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

/** A file that the first use opens. */
export interface SqliteFile {
  readonly busyTimeoutMs: number
  /** Guards the writing connection from BEGIN to COMMIT. */
  readonly turn: Mutex
  /** @throws StoreError `ERR_STORE_UNAVAILABLE` when it cannot be opened, or was closed; `ERR_STORE_BUSY`. */
  open(): Promise<OpenFile>
  /** The open connections, without a wait; undefined before the open and after `close`. */
  opened(): OpenFile | undefined
  /** Waits for the running transaction, then closes both connections. */
  close(): Promise<void>
}

/** Describes a file; nothing is opened yet. */
export function createFile(path: string, busyTimeoutMs: number, synced = true): SqliteFile {
  const turn = createMutex()
  let opening: Promise<OpenFile> | undefined
  let ready: OpenFile | undefined
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    const release = await turn()
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
    turn,
    async open() {
      if (closing !== undefined) throw closedError()
      opening ??= openFile(path, busyTimeoutMs, synced).catch((error: unknown) => {
        opening = undefined
        throw openError(path, error)
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

// SQLite does this itself when the last connection closes, but a connection with uncollected statements stays half
// open. A failure does no harm: the next open reads the log.
function copyLog(writer: SqliteHandle): void {
  try {
    writer.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // The store is closed whatever is wrong with the file.
  }
}

/**
 * Page cache of the reading connection, in negative KiB: 32 MiB. With the default of 2 a large file is read repeatedly.
 */
const readerCache = 'pragma cache_size = -32768'
/** Page cache of the writing connection: a larger one makes a bulk insert 1 % faster. */
const writerCache = 'pragma cache_size = -16384'
/**
 * Page size of a new file, in bytes. Writes to an index by hash are scattered: half as many pages of twice the size
 * cost less.
 */
const pageSize = 'pragma page_size = 8192'
/**
 * Pages in the log before they are copied into the file: 32 MiB, because a bulk insert writes the same pages
 * repeatedly.
 */
const checkpointEvery = 'pragma wal_autocheckpoint = 4096'
// WAL with synchronous=FULL puts every commit on the disk; fullfsync makes macOS mean it.
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
    writer.exec(pageSize)
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

/**
 * The file has payments and hashes of secrets: read and write for its owner alone. SQLite gives its log and index the
 * same mode.
 */
const ownerOnly = 0o600

/**
 * Creates a missing file, because SQLite's would be readable for every user of the machine. An existing file keeps its
 * mode and is not opened: closing it would release this process's locks on it (POSIX `fcntl`).
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
