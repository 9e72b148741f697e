/** Converts SQLite's errors to the store's. Source: the Store port (errors). @module */
import { StoreError } from '@payment-integration/core'

const busy = 'Another process holds the lock of the SQLite file; try again, or keep one writing process per file.'
const damaged = 'The SQLite file is damaged or is no database; stop the service and restore a backup.'
const readOnly = 'The SQLite file may only be read; give this process the right to write it and its folder.'
const disk = 'The disk failed a read or a write of the SQLite file; check that disk.'
const full = 'There is no space left for the SQLite file; free some and try again.'
const cannotOpen = 'The SQLite file cannot be opened; check the disk it is on.'

/** Failures of the file, by SQLite's primary result code and its own text; any other error is the statement's fault. */
const failures: readonly (readonly [code: number, text: string, error: StoreError['code'], message: string])[] = [
  [5, 'database is locked', 'ERR_STORE_BUSY', busy],
  [6, 'database table is locked', 'ERR_STORE_BUSY', busy],
  [8, 'attempt to write a readonly database', 'ERR_STORE_UNAVAILABLE', readOnly],
  [10, 'disk I/O error', 'ERR_STORE_UNAVAILABLE', disk],
  [11, 'database disk image is malformed', 'ERR_STORE_UNAVAILABLE', damaged],
  [13, 'database or disk is full', 'ERR_STORE_FULL', full],
  [14, 'unable to open database file', 'ERR_STORE_UNAVAILABLE', cannotOpen],
  [26, 'file is not a database', 'ERR_STORE_UNAVAILABLE', damaged],
]

function findFailure(error: unknown) {
  if (!(error instanceof Error)) return undefined
  const { errcode } = error as { errcode?: unknown }
  // The low byte of a result code is the primary one. A binding may lose the code; then the text decides.
  return failures.find(([code, text]) =>
    typeof errcode === 'number' ? (errcode & 0xff) === code : error.message === text,
  )
}

/** Whether another connection has the lock that a statement needs. */
export function isLocked(error: unknown): boolean {
  const [, , code] = findFailure(error) ?? []
  return code === 'ERR_STORE_BUSY'
}

/** Turns a lock, a full disk or an unusable file into a StoreError; returns any other error unchanged. */
export function convertSqliteError(error: unknown): unknown {
  const failure = findFailure(error)
  if (failure === undefined) return error
  const [, , code, message] = failure
  return new StoreError(code, message, { cause: error })
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
