/** Meaning of failures of the store's own statements. Source: PostgreSQL's table of SQLSTATE codes. @module */
import { StoreBusyError, TableMissingError, TransactionEndedError, TransactionFailedError } from '../../errors.js'
import { sqlState } from './driver.js'

const lockNotAvailable = '55P03'
const queryCanceled = '57014'
const undefinedTable = '42P01'
const divisionByZero = '22012'
const failedTransaction = '25P02'
const noActiveTransaction = '25P01'
const noSuchSavepoint = '3B001'

/** The transaction is not the store's any more: its seal does not hold, or its savepoint is gone. */
export function isEnded(error: unknown): boolean {
  return [divisionByZero, noActiveTransaction, noSuchSavepoint].includes(sqlState(error) ?? '')
}

/** Before the effect: a lock took too long, the table is missing, or the caller's transaction has failed. */
export function errorOfClaim(error: unknown, table: string, waitedMs: number): unknown {
  const state = sqlState(error)
  if (state === lockNotAvailable || state === queryCanceled) return new StoreBusyError(waitedMs, 'lock', error)
  if (state === undefinedTable) return new TableMissingError(table, error)
  return state === failedTransaction ? new TransactionFailedError(error) : error
}

/** After an effect that succeeded. */
export function errorOfSeal(error: unknown): unknown {
  if (isEnded(error)) return new TransactionEndedError()
  return sqlState(error) === failedTransaction ? new TransactionFailedError(error) : error
}

/** For a read. */
export function rejectMissingTable(table: string): (error: unknown) => never {
  return (error) => {
    throw sqlState(error) === undefinedTable ? new TableMissingError(table, error) : error
  }
}
