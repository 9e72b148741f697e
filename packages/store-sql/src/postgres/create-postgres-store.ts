/** Creates the PostgreSQL store, for more than one machine. @module */

import type { Clock, IdSource, Store } from '@payment-integration/core/ports'
import pg from 'pg'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/values.js'
import type { Limits } from './postgres-connection.js'
import { createPostgresEngine, type PostgresEngineOptions } from './postgres-engine.js'

interface OwnPoolOptions {
  readonly connectTimeoutMs: number
  readonly limits: Limits
  /** False: each transaction sets the limits, because a pooler in between rejects them at the connection. */
  readonly keepsSession: boolean
  /** Certificates, as PEM text, of which one must have signed the server's; null: as the address says. */
  readonly ca: string | null
}

/** TypeError: the address is malformed, or contradicts `ca`. `option` names the address in messages. */
function createOwnPool(connectionString: string, option: string, most: number, options: OwnPoolOptions): pg.Pool {
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

/** How to reach the database: by an address, or through a pool of the host. */
export interface PostgresStoreOptions {
  /** A `postgres://` address. The store then owns its connections and their time-outs. */
  readonly connectionString?: string | undefined
  /** A `pg` pool of the caller, with the caller's time-outs except for `migrate`; `close` leaves it open. */
  readonly pool?: pg.Pool | undefined
  /**
   * Schema of the tables; `migrate` creates it. Lowercase letters, digits and `_`.
   * @default 'payment_integration'
   */
  readonly schema?: string | undefined
  /** Clock of leases. @default The database's own, so that clock skew of dispatchers does not matter. */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Makes claim tokens: each must be new. @default random UUIDs */
  readonly ids?: IdSource | undefined
  /**
   * Whether frequent reads, claims and settlements are prepared statements. Switch it off behind a pooler that gives
   * each transaction another connection. Then nothing is kept in a session, and each transaction sets its time-outs.
   * Without a `directConnectionString` the dispatcher hears of deliveries of other processes by its poll alone.
   * @default true
   */
  readonly preparedStatements?: boolean | undefined
  /**
   * An address of the same database past a pooler: for LISTEN, and for making indexes. Only with `connectionString`.
   * @default `connectionString`, where `preparedStatements` is true
   */
  readonly directConnectionString?: string | undefined
  /**
   * A streaming standby of the same database, of one machine. Listings and look-ups of payments that may be stale are
   * read there while its measured lag is within the bound. Only with `connectionString`.
   */
  readonly reader?: { readonly connectionString: string; readonly maxLagMs: number } | undefined
  /** Most connections at a time to each address; only with `connectionString`. @default 10 */
  readonly maxConnections?: number | undefined
  /** Longest statement, in milliseconds; only with `connectionString`. @default 30000 */
  readonly statementTimeoutMs?: number | undefined
  /** Longest wait of a statement for a lock, in milliseconds; only with `connectionString`. @default 10000 */
  readonly lockTimeoutMs?: number | undefined
  /**
   * Certificates as PEM text, of which one must have signed the server's, whose name must be the host of the address.
   * Only with `connectionString`, without `sslmode` in it. @default TLS as the address says
   */
  readonly ca?: string | undefined
  /** Accepts a database product that this release does not know, by the name that the error says. @default none */
  readonly acceptedEngine?: string | undefined
}

/** Defaults of {@link PostgresStoreOptions}, and the time-outs of the store's own connections, in milliseconds. */
export const postgresStoreDefaults = {
  schema: 'payment_integration',
  maxConnections: 10,
  preparedStatements: true,
  /** To connect, and to wait for a free connection. */
  connectTimeoutMs: 5_000,
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 30_000,
  /** For an idle transaction. */
  idleInTransactionTimeoutMs: 60_000,
  /**
   * For a silent server, in addition to the longest statement. A server that still answers reports its own time-out
   * first, unless long statements are queued before the others.
   */
  answerGraceMs: 5_000,
} as const

/** Longest bound of a standby's lag, and longest time-out, in milliseconds. */
const maxMs = 3_600_000
/**
 * Longest wait for a standby, to connect and for an answer, in milliseconds. The primary is asked next, so that one
 * that fell silent delays a read no longer.
 */
const standbyTimeoutMs = 1_000
/** Connections past a pooler: one index is made at a time. */
const directConnections = 2

/**
 * Creates a store in a PostgreSQL database. It connects at the first call; with `reader` at once, to measure its lag.
 * @throws TypeError When not exactly one of `connectionString` and `pool` is given, or an option is malformed.
 * @throws RangeError When a number is out of range.
 * @example
 * import { createPostgresStore } from '@payment-integration/store-sql/postgres'
 * const store = createPostgresStore({ connectionString: 'postgres://app@db.internal/payments' })
 */
export function createPostgresStore(options: PostgresStoreOptions): Store {
  const { connectionString, pool, clock, ids, preparedStatements, acceptedEngine } = options
  const { schema = postgresStoreDefaults.schema } = options
  if ((connectionString === undefined) === (pool === undefined))
    throw new TypeError('Pass either connectionString or pool.')
  checkSchema(schema)
  if (preparedStatements !== undefined && typeof preparedStatements !== 'boolean')
    throw new TypeError('preparedStatements is neither true nor false.')
  const now = clock && (() => clock.now())
  const common = { schema, now, preparedStatements, acceptedEngine }
  if (pool === undefined) return createStore(createOwnEngine(connectionString ?? '', options, common), ids)
  const poolOption = ownOptions.find((name) => options[name] !== undefined)
  if (poolOption !== undefined)
    throw new TypeError(`${poolOption} is given together with pool; set it where the pool is made.`)
  return createStore(createPostgresEngine(pool, common), ids)
}

const ownOptions = [
  'directConnectionString',
  'reader',
  'maxConnections',
  'statementTimeoutMs',
  'lockTimeoutMs',
  'ca',
] as const

function createOwnEngine(
  connectionString: string,
  options: PostgresStoreOptions,
  common: PostgresEngineOptions,
): Engine {
  const { directConnectionString, reader, preparedStatements: keepsSession = true, ca = null } = options
  const { connectTimeoutMs, idleInTransactionTimeoutMs, answerGraceMs } = postgresStoreDefaults
  const { maxConnections = postgresStoreDefaults.maxConnections } = options
  const { statementTimeoutMs = postgresStoreDefaults.statementTimeoutMs } = options
  const { lockTimeoutMs = postgresStoreDefaults.lockTimeoutMs } = options
  checkInteger(statementTimeoutMs, 'statementTimeoutMs', 100, maxMs)
  checkInteger(lockTimeoutMs, 'lockTimeoutMs', 100, maxMs)
  if (reader !== undefined) checkInteger(reader.maxLagMs, 'maxLagMs', 10, maxMs)
  const limits = { lockTimeoutMs, statementTimeoutMs, idleInTransactionTimeoutMs }
  const settings: OwnPoolOptions = { connectTimeoutMs, limits, keepsSession, ca }
  const pools: pg.Pool[] = []
  const open = (address: string, option: string, most: number, given = settings) => {
    const made = createOwnPool(address, option, most, given)
    pools.push(made)
    return made
  }
  const main = open(connectionString, 'connectionString', maxConnections)
  const direct =
    directConnectionString === undefined
      ? undefined
      : open(directConnectionString, 'directConnectionString', directConnections, { ...settings, keepsSession: true })
  return createPostgresEngine(main, {
    ...common,
    limits: keepsSession ? undefined : limits,
    direct,
    reader: reader && {
      pool: open(reader.connectionString, 'reader.connectionString', maxConnections, {
        ...settings,
        connectTimeoutMs: standbyTimeoutMs,
        limits: { ...limits, statementTimeoutMs: Math.min(statementTimeoutMs, standbyTimeoutMs) },
      }),
      maxLagMs: reader.maxLagMs,
      answerTimeoutMs: standbyTimeoutMs,
    },
    answerTimeoutMs: statementTimeoutMs + answerGraceMs,
    ownClients: true,
    end: () => Promise.all(pools.map((each) => each.end())),
  })
}

/** @throws TypeError When the schema's name is malformed. */
export function checkSchema(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new TypeError(`schema is ${JSON.stringify(schema)}; pass up to 63 lowercase letters, digits and underscores.`)
}
