/** Converts PostgreSQL's errors to the store's. Source: the Store port (errors). @module */
import { StoreError } from '@payment-integration/core'

function getErrorCode(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

/** Whether a retry of the transaction may succeed: a serialization failure or a deadlock. */
export function isConflict(error: unknown): boolean {
  return getErrorCode(error) === '40001' || getErrorCode(error) === '40P01'
}

/** Whether another session created the same schema, table or index at the same time. */
export function isCreatedConcurrently(error: unknown): boolean {
  return ['23505', '42P06', '42P07', '42710'].includes(getErrorCode(error))
}

const busy: Readonly<Record<string, string>> = {
  '53300': 'PostgreSQL has no connection free',
  '55P03': 'PostgreSQL did not get a lock in time',
  '57014': 'PostgreSQL canceled a statement that ran too long',
}

// The server is shut down, crashed, starting or read-only after a failover, or ended the session.
const unavailable =
  /^(57P0\d|08...|25006|25P0[34]|28...|3D000|EAI_AGAIN|E[A-Z]*(REFUSED|RESET|PIPE|NOTFOUND|UNREACH|TIMEDOUT|NOENT|ACCES|ABORTED))$/

// `pg` reports these without a code.
const lostText =
  /connection (terminated|ended|error)|connection timeout|not queryable|timeout expired|query read timeout/i

/** The message of `pg-pool` when no connection becomes free. */
const poolTimeout = 'timeout exceeded when trying to connect'

/** Whether the connection is unusable after the error. */
export function isConnectionLost(error: unknown): boolean {
  return unavailable.test(getErrorCode(error)) || (error instanceof Error && lostText.test(error.message))
}

/** Turns contention, a full disk or a lost server into a StoreError; returns any other error unchanged. */
export function convertPostgresError(error: unknown): unknown {
  if (error instanceof StoreError) return error
  const code = getErrorCode(error)
  const reason = busy[code]
  if (reason !== undefined) return toBusyError(reason, error)
  if (error instanceof Error && error.message === poolTimeout) return toBusyError('Every connection is in use', error)
  if (code === '53100')
    return new StoreError('ERR_STORE_FULL', 'There is no space left for PostgreSQL; free some and try again.', {
      cause: error,
    })
  return isConnectionLost(error) ? toUnavailableError(error) : error
}

export function toConflictError(error: unknown, attempts: number): StoreError {
  return toBusyError(`Each of ${attempts} attempts met a conflicting transaction`, error)
}

/** Converts a connection error; an unknown one means that the server cannot be reached. */
export function createConnectError(error: unknown): unknown {
  const converted = convertPostgresError(error)
  return converted instanceof StoreError ? converted : toUnavailableError(error)
}

function toBusyError(reason: string, cause: unknown): StoreError {
  return new StoreError('ERR_STORE_BUSY', `${reason}; try again.`, { cause })
}

// Only the code goes into the message, because the server's own message, which is in the cause, may quote values.
function toUnavailableError(cause: unknown): StoreError {
  const code = getErrorCode(cause)
  return new StoreError(
    'ERR_STORE_UNAVAILABLE',
    `PostgreSQL cannot be reached${code === '' ? '' : ` (${code})`}; check that it runs and that the connection settings are right.`,
    { cause },
  )
}
