/** Makes the connection pools of a store that is given addresses. @module */
import pg from 'pg'
import { checkInteger } from '../internal/checks.js'
import type { Limits } from './postgres-connection.js'

/** Settings of the pools of one store. */
export interface OwnPoolOptions {
  readonly connectTimeoutMs: number
  readonly limits: Limits
  /** False: the limits are set by each transaction, because a pooler in between refuses them at the connection. */
  readonly keepsSession: boolean
  /** Certificates, as PEM text, of which one must have signed the server's; null: as the address says. */
  readonly ca: string | null
}

/**
 * Makes a pool.
 * @param option - Name of the address, for messages.
 * @throws TypeError When the address is malformed, or contradicts `ca`.
 */
export function ownPool(connectionString: string, option: string, most: number, options: OwnPoolOptions): pg.Pool {
  checkAddress(connectionString, option, options.ca)
  checkInteger(most, 'maxConnections', 1, 10_000)
  const { connectTimeoutMs, limits, keepsSession, ca } = options
  const pool = new pg.Pool({
    connectionString,
    max: most,
    application_name: 'payment-integration',
    connectionTimeoutMillis: connectTimeoutMs,
    ...(keepsSession
      ? {
          lock_timeout: limits.lockTimeoutMs,
          statement_timeout: limits.statementTimeoutMs,
          idle_in_transaction_session_timeout: limits.idleInTransactionTimeoutMs,
        }
      : {}),
    ...(ca === null ? {} : { ssl: { ca, rejectUnauthorized: true } }),
    keepAlive: true,
    pipeline: true,
  })
  // The next use replaces a broken idle connection. Without a listener its error would end the process.
  pool.on('error', () => undefined)
  return pool
}

function checkAddress(connectionString: string, option: string, ca: string | null): void {
  // The address may contain a password: no message repeats it.
  if (!/^postgres(ql)?:\/\//.test(connectionString)) throw new TypeError(`${option} is not a postgres:// address.`)
  if (ca !== null && hasTlsParameter(connectionString))
    throw new TypeError(`${option} has a parameter for TLS, which ca replaces; remove it.`)
}

/** Whether an address has a parameter that replaces the option for TLS: `ssl`, `sslmode` and so on. */
export function hasTlsParameter(connectionString: string): boolean {
  return /[?&]ssl[a-z]{0,20}=/i.test(connectionString)
}
