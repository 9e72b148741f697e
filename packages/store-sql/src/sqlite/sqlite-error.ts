/** Converts SQLite's errors to the store's. Source: the Store port (errors). @module */
import { StoreError } from '@payment-integration/core'

/** Primary result codes of SQLite. */
const codes = { busy: 5, locked: 6, readOnly: 8, io: 10, corrupt: 11, full: 13, cantOpen: 14, notDatabase: 26 } as const

// The bindings sometimes lose the result code. The text is SQLite's own, so it is the same in both bindings.
const codeOfText: Readonly<Record<string, number>> = {
  'database is locked': codes.busy,
  'database table is locked': codes.locked,
  'attempt to write a readonly database': codes.readOnly,
  'disk I/O error': codes.io,
  'database disk image is malformed': codes.corrupt,
  'database or disk is full': codes.full,
  'unable to open database file': codes.cantOpen,
  'file is not a database': codes.notDatabase,
}

const busy = 'Another process holds the lock of the SQLite file; try again, or keep one writing process per file.'
const damaged = 'The SQLite file is damaged or is no database; stop the service and restore a backup.'

/** Store errors by code; any other code is a fault of the statement. */
const meanings: Readonly<Record<number, readonly [StoreError['code'], string]>> = {
  [codes.busy]: ['ERR_STORE_BUSY', busy],
  [codes.locked]: ['ERR_STORE_BUSY', busy],
  [codes.full]: ['ERR_STORE_FULL', 'There is no space left for the SQLite file; free some and try again.'],
  [codes.cantOpen]: ['ERR_STORE_UNAVAILABLE', 'The SQLite file cannot be opened; check the disk it is on.'],
  [codes.io]: ['ERR_STORE_UNAVAILABLE', 'The disk failed a read or a write of the SQLite file; check that disk.'],
  [codes.readOnly]: [
    'ERR_STORE_UNAVAILABLE',
    'The SQLite file may only be read; give this process the right to write it and its folder.',
  ],
  [codes.corrupt]: ['ERR_STORE_UNAVAILABLE', damaged],
  [codes.notDatabase]: ['ERR_STORE_UNAVAILABLE', damaged],
}

function getResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode } = error as { errcode?: unknown }
  // The low byte is the primary code.
  return typeof errcode === 'number' ? errcode & 0xff : codeOfText[error.message]
}

/** Whether another connection has the lock that a statement needs. */
export function isLocked(error: unknown): boolean {
  const code = getResultCode(error)
  return code === codes.busy || code === codes.locked
}

/** Turns a lock, a full disk or an unusable file into a StoreError; returns any other error unchanged. */
export function convertSqliteError(error: unknown): unknown {
  const meaning = meanings[getResultCode(error) ?? 0]
  return meaning === undefined ? error : new StoreError(...meaning, { cause: error })
}

/** Converts an error of opening; any but a busy or full file means that the path has no usable database. */
export function createOpenError(path: string, error: unknown): StoreError {
  const converted = convertSqliteError(error)
  if (converted instanceof StoreError && converted.code !== 'ERR_STORE_UNAVAILABLE') return converted
  const reason = error instanceof Error ? error.message : String(error)
  return new StoreError(
    'ERR_STORE_UNAVAILABLE',
    `The SQLite file ${path} cannot be opened (${reason}); its folder must exist and be writable, on a local disk.`,
    { cause: error },
  )
}
