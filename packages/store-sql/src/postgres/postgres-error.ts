/** PostgreSQL's errors as the store's. Source: the Store port (errors). @module */
import { StoreError } from '@payment-integration/core'

/** The SQLSTATE or the system's code of an error. */
function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

/** Whether the same transaction may succeed when it runs again: a serialization failure or a deadlock. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === '40001' || codeOf(error) === '40P01'
}

const busy: Readonly<Record<string, string>> = {
  '53300': 'PostgreSQL has no connection free',
  '55P03': 'PostgreSQL did not get a lock in time',
  '57014': 'PostgreSQL cancelled a statement that ran too long',
}

// Shut down, crashed, starting, read-only after a failover, or a session it ended.
const unavailable =
  /^(57P0\d|08...|25006|25P03|28...|3D000|EAI_AGAIN|E[A-Z]*(REFUSED|RESET|PIPE|NOTFOUND|UNREACH|TIMEDOUT|NOENT|ACCES|ABORTED))$/

// `pg` reports these without a code.
const lostText =
  /connection (terminated|ended|error)|connection timeout|not queryable|timeout expired|query read timeout/i

/** The words of `pg-pool` when every connection stayed in use. */
const poolTimeout = 'timeout exceeded when trying to connect'

/** Whether the connection an error arrived on can be used no more. */
export function isLost(error: unknown): boolean {
  return unavailable.test(codeOf(error)) || (error instanceof Error && lostText.test(error.message))
}

/** Contention, a full disk or a lost server becomes a StoreError; anything else is passed on as it is. */
export function fromPostgresError(error: unknown): unknown {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  const reason = busy[code]
  if (reason !== undefined) return busyError(reason, error)
  if (error instanceof Error && error.message === poolTimeout) return busyError('Every connection is in use', error)
  if (code === '53100')
    return new StoreError('ERR_STORE_FULL', 'There is no space left for PostgreSQL; free some and try again.', {
      cause: error,
    })
  return isLost(error) ? unavailableError(error) : error
}

/** A transaction that met conflicts as often as it was tried. */
export function conflictError(error: unknown, attempts: number): StoreError {
  return busyError(`Each of ${attempts} attempts met a conflicting transaction`, error)
}

/** A failure to connect: whatever the cause, no server can be talked to. */
export function connectError(error: unknown): unknown {
  const known = fromPostgresError(error)
  return known instanceof StoreError ? known : unavailableError(error)
}

/** The answer to every call after `close`. */
export function closedError(): StoreError {
  return new StoreError('ERR_STORE_UNAVAILABLE', 'This store was closed; create another one.')
}

function busyError(reason: string, cause: unknown): StoreError {
  return new StoreError('ERR_STORE_BUSY', `${reason}; try again.`, { cause })
}

// The cause carries the server's words; this message names its code only, since words may quote what was sent.
function unavailableError(cause: unknown): StoreError {
  const code = codeOf(cause)
  return new StoreError(
    'ERR_STORE_UNAVAILABLE',
    `PostgreSQL cannot be reached${code === '' ? '' : ` (${code})`}; check that it runs and that the connection settings are right.`,
    { cause },
  )
}
