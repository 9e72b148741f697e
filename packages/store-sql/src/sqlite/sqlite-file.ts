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
  /** Sets whether the writer's next commits are on the disk at once; between transactions only. */
  synchronize(level: Synchronous): void
}

/**
 * `full`: each commit is synced to the disk. `normal`: with the next one that is, or with a checkpoint; a loss of power
 * may undo it.
 */
export type Synchronous = 'full' | 'normal'

/** A file that is opened when it is first needed. */
export interface SqliteFile {
  readonly busyTimeoutMs: number
  /** Guards the writing connection: held from BEGIN to COMMIT. */
  readonly turn: Mutex
  /** @throws StoreError `ERR_STORE_UNAVAILABLE` when it cannot be opened, or was closed; `ERR_STORE_BUSY`. */
  open(): Promise<OpenFile>
  /** The connections where they are open already, without a wait; undefined before that and after `close`. */
  opened(): OpenFile | undefined
  /** Waits for the running transaction, then closes both connections. */
  close(): Promise<void>
}

/** Describes a file; nothing is opened yet. */
export function createFile(path: string, busyTimeoutMs: number): SqliteFile {
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
      opening ??= openFile(path, busyTimeoutMs).catch((error: unknown) => {
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

// SQLite does this by itself when the last connection of a file closes, but one with statements that are not collected
// yet
// stays half open. The log alone is as good: what cannot be copied now is found there by the next open.
function copyLog(writer: SqliteHandle): void {
  try {
    writer.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // Whatever is wrong with the file, the store is closed.
  }
}

/**
 * Pages that the reading connection keeps, in KiB below zero: 32 MiB, instead of 2 that would read a large file again
 * and again.
 */
const readerCache = 'pragma cache_size = -32768'
/** Those of the writing one: more of them make a bulk insert one hundredth faster. */
const writerCache = 'pragma cache_size = -16384'
/**
 * Size of a page of a new file, in bytes. An index by hash is written all over: half as many pages cost less than their
 * size.
 */
const pageSize = 'pragma page_size = 8192'
/**
 * Pages in the log before they are copied into the file: 32 MiB, as a bulk insert writes the same pages again and
 * again.
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

async function openFile(path: string, busyTimeoutMs: number): Promise<OpenFile> {
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
    const reader = await waitForLock(busyTimeoutMs, () => open(true))
    reader.exec(readerCache)
    let synchronous: Synchronous = 'full'
    return {
      writer,
      reader,
      synchronize(level) {
        if (level !== synchronous) writer.exec(`pragma synchronous = ${level}`)
        synchronous = level
      },
    }
  } catch (error) {
    for (const handle of opened) handle.close()
    throw error
  }
}

/**
 * The file holds payments and hashes of secrets: read and write for its owner alone. SQLite gives its log and index the
 * same mode.
 */
const ownerOnly = 0o600

/**
 * Creates a missing file, because SQLite would make one that every user of the machine can read. An existing one keeps
 * the mode that an operator gave it, and is not even opened: closing it would release the locks that this process has
 * on it (POSIX `fcntl`).
 */
function createMissing(path: string): void {
  if (existsSync(path)) return
  try {
    // Not exclusively: the path may be a symbolic link to a file that is missing.
    closeSync(openSync(path, 'a', ownerOnly))
  } catch {
    // SQLite fails at the same, and its error is the one that is reported.
  }
}
