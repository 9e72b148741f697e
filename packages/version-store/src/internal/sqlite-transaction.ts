/**
 * The store's transaction, and whether an effect left it alone. A savepoint goes with the transaction that it was made in, so its
 * presence tells, on every driver, that the transaction is still the one that the store began.
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

/** Goes after an effect that succeeded. @throws {@link TransactionEndedError} `ERR_TRANSACTION_ENDED` when its transaction is gone. */
export function endEffect(database: SqliteDatabase): void {
  if (!reaches(database, 'RELEASE')) throw new TransactionEndedError()
}

/**
 * Goes after an effect that threw, and gives what to throw: its own error when everything it wrote is undone. Without its transaction
 * that holds only for an error of SQLite that rolled back by itself (a full disk, RAISE(ROLLBACK)); else it gives a
 * {@link TransactionEndedError} with the effect's error as its cause, because something may be kept.
 */
export function errorOfEffect(database: SqliteDatabase, error: unknown): unknown {
  if (reaches(database, 'ROLLBACK TO')) return error
  const endedAndBegan = rollBack(database)
  return endedAndBegan || !isOfSqlite(error) ? new TransactionEndedError(error) : error
}

/**
 * Says whether there was a transaction. Its failure never hides the error that led here; it is tried twice, because a transaction that
 * stays open would refuse every call after this one.
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
  return error instanceof Error && words.test(error.message)
}

function isOfSqlite(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^(ERR_SQLITE_ERROR$|SQLITE_)/.test(code)
}
