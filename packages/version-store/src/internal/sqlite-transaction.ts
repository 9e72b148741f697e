/**
 * The store's transaction, and whether an effect left it open. A savepoint ends with its transaction, so on every
 * driver its presence proves that the store's own transaction is still open.
 * @module
 */
import { TransactionEndedError, TransactionOpenError } from '../errors.js'
import type { SqliteDatabase } from '../sqlite-database.js'

/** Made before the effect and released after it. */
const effectPoint = 'payment_version_effect'

/** @throws {@link TransactionOpenError} `ERR_TRANSACTION_OPEN` inside of another transaction, which stays as it is. */
export function begin(database: SqliteDatabase): void {
  if ((database.isTransaction ?? database.inTransaction) === true) throw new TransactionOpenError()
  try {
    database.exec('BEGIN IMMEDIATE')
  } catch (error) {
    if (says(error, /within a transaction/)) throw new TransactionOpenError()
    // A driver may fail after SQLite began.
    rollBack(database)
    throw error
  }
}

/** Goes before the effect. */
export function markEffect(database: SqliteDatabase): void {
  database.exec(`SAVEPOINT ${effectPoint}`)
}

/** Runs after an effect that succeeded. @throws {@link TransactionEndedError} When its transaction is gone. */
export function endEffect(database: SqliteDatabase): void {
  if (!reaches(database, 'RELEASE')) throw new TransactionEndedError()
}

/**
 * Runs after an effect that threw, and returns the error to throw. That is the effect's own error when all its writes
 * are rolled back. Without a transaction, only an error after which SQLite rolls back by itself proves that (a full
 * disk, RAISE(ROLLBACK)). Otherwise it is a {@link TransactionEndedError} with the effect's error as its cause.
 */
export function errorOfEffect(database: SqliteDatabase, error: unknown): unknown {
  if (reaches(database, 'ROLLBACK TO')) return error
  const endedAndBegan = rollBack(database)
  return endedAndBegan || !isOfSqlite(error) ? new TransactionEndedError(error) : error
}

/**
 * Rolls back, and returns whether there was a transaction. It never throws, so the first error stays visible. It tries
 * twice, because an open transaction would make every later call fail.
 */
export function rollBack(database: SqliteDatabase): boolean {
  for (let tries = 1; ; tries++) {
    try {
      database.exec('ROLLBACK')
      return true
    } catch (error) {
      if (tries === 2 || says(error, /no transaction is active/)) return false
    }
  }
}

/** Whether the savepoint is there; other errors come out. */
function reaches(database: SqliteDatabase, verb: 'RELEASE' | 'ROLLBACK TO'): boolean {
  try {
    database.exec(`${verb} ${effectPoint}`)
    return true
  } catch (error) {
    if (says(error, /no such savepoint/)) return false
    throw error
  }
}

/** The words are SQLite's own, and the same in every driver. */
function says(error: unknown, words: RegExp): boolean {
  return words.test(String((Object(error) as Partial<Error>).message))
}

function isOfSqlite(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^(ERR_SQLITE_ERROR$|SQLITE_)/.test(code)
}
