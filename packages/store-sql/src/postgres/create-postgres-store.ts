/** Creates the PostgreSQL store. @module */
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
  /** If false, each transaction sets the time limits, because a pooler rejects them as connection parameters. */
  readonly keepsSession: boolean
  /** PEM certificates, one of which must have signed the server's; null for TLS as in the address. */
  readonly ca: string | null
}

/**
 * @param option - The name of the option with the address, for messages.
 * @throws TypeError When the address is malformed or contradicts `ca`.
 */
function createOwnPool(connectionString: string, option: string, max: number, options: OwnPoolOptions): pg.Pool {
  // The address may contain a password, so no message repeats it.
  if (!/^postgres(ql)?:\/\//.test(connectionString)) throw new TypeError(`${option} does not begin with postgres://.`)
  if (options.ca !== null && hasTlsParameter(connectionString))
    throw new TypeError(`${option} has a parameter for TLS, which ca replaces; remove it.`)
  checkInteger(max, 'maxConnections', 1, 10_000)
  const { connectTimeoutMs, limits, keepsSession, ca } = options
  const pool = new pg.Pool({
    connectionString,
    max,
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
  // Without a listener, the error of a broken idle connection would end the process. The next use reconnects.
  pool.on('error', () => undefined)
  return pool
}

/** Whether an address has a parameter that overrides the TLS option, such as `ssl` or `sslmode`. */
export function hasTlsParameter(connectionString: string): boolean {
  return /[?&]ssl[a-z]{0,20}=/i.test(connectionString)
}

/** The address or pool of the database, and the limits of connections and statements. */
export interface PostgresStoreOptions {
  /** A `postgres://` address. The store then owns its connections and time-outs. @default none: `pool` is given */
  readonly connectionString?: string | undefined
  /** A `pg` pool of the caller, with its time-outs except in `migrate`. `close` leaves it open. @default none */
  readonly pool?: pg.Pool | undefined
  /** Schema of the tables, which `migrate` creates: lowercase letters, digits, `_`. @default 'payment_integration' */
  readonly schema?: string | undefined
  /** The clock of leases. @default the database's, so that clock skew between dispatchers does not matter */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Makes unique lease tokens. @default random UUIDs */
  readonly ids?: IdSource | undefined
  /**
   * Whether frequent statements are prepared. Turn it off behind a pooler in transaction mode: then nothing is kept in
   * a session, and each transaction sets its time-outs. Without `directConnectionString`, dispatchers then find the
   * deliveries of other processes only by polling.
   * @default true
   */
  readonly preparedStatements?: boolean | undefined
  /**
   * An address that bypasses a pooler, for LISTEN and for creating indexes. Only with `connectionString`.
   * @default `connectionString` if `preparedStatements` is true
   */
  readonly directConnectionString?: string | undefined
  /**
   * One streaming standby of the same database. While its lag is at most `maxLagMs` milliseconds, it answers the reads
   * that may be stale, such as listings and look-ups of payments. Only with `connectionString`. @default none
   */
  readonly reader?: { readonly connectionString: string; readonly maxLagMs: number } | undefined
  /** The most connections to each address. Only with `connectionString`. @default 10 */
  readonly maxConnections?: number | undefined
  /** Limit of a statement, in milliseconds. Only with `connectionString`. @default 30000 */
  readonly statementTimeoutMs?: number | undefined
  /** Limit of a statement's wait for a lock, in milliseconds. Only with `connectionString`. @default 10000 */
  readonly lockTimeoutMs?: number | undefined
  /**
   * PEM certificates. One must have signed the server's certificate, which must name the address's host. Only with a
   * `connectionString` without parameters for TLS, such as `sslmode`. @default TLS as in the address
   */
  readonly ca?: string | undefined
  /** An unknown database product to accept, by its name in the error. @default none */
  readonly acceptedEngine?: string | undefined
}

/** Defaults of {@link PostgresStoreOptions}, and the time-outs of the store's own connections, in milliseconds. */
export const postgresStoreDefaults = {
  schema: 'payment_integration',
  maxConnections: 10,
  preparedStatements: true,
  /** For connecting, and for the wait for a free connection. */
  connectTimeoutMs: 5_000,
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 30_000,
  /** For an idle transaction. */
  idleInTransactionTimeoutMs: 60_000,
  /**
   * For a silent server, in addition to the statement's limit, so that a live server reports its own time-out first.
   */
  answerGraceMs: 5_000,
} as const

/** The highest limit of a standby's lag, and the longest time-out, in milliseconds. */
const maxMs = 3_600_000
/** The longest wait for a standby, in milliseconds; then the read goes to the primary. */
const standbyTimeoutMs = 1_000
/** Connections that bypass a pooler: one index is made at a time. */
const directConnections = 2

/**
 * Creates a store in a PostgreSQL database. It connects at the first call, but to a `reader` at once.
 * @throws TypeError When not exactly one of `connectionString` and `pool` is given, or an option is malformed.
 * @throws RangeError When a number is out of range. Its methods reject with StoreError: `ERR_STORE_UNAVAILABLE`,
 * `ERR_STORE_BUSY`, `ERR_STORE_FULL`, `ERR_STORE_SCHEMA`, `ERR_STORE_ENGINE`.
 * @example
 * import { createPostgresStore } from '@payment-integration/store-sql/postgres'
 * const store = createPostgresStore({ connectionString: 'postgres://app@db.internal/payments' })
 */
export function createPostgresStore(options: PostgresStoreOptions): Store {
  const { connectionString, pool, clock, ids, preparedStatements, acceptedEngine } = options
  const { schema = postgresStoreDefaults.schema } = options
  if ((connectionString === undefined) === (pool === undefined))
    throw new TypeError(`${pool ? 'Both' : 'Neither'} of connectionString and pool were given; pass one of them.`)
  checkSchema(schema)
  if (preparedStatements !== undefined && typeof preparedStatements !== 'boolean')
    throw new TypeError(`preparedStatements is ${String(preparedStatements)}; pass true or false.`)
  const common = { schema, clock, preparedStatements, acceptedEngine }
  if (pool === undefined) return createStore(createOwnEngine(connectionString ?? '', options, common), ids)
  const rejectedOption = ownPoolOptions.find((name) => options[name] !== undefined)
  if (rejectedOption !== undefined)
    throw new TypeError(`${rejectedOption} is given together with pool; set it where the pool is made.`)
  return createStore(createPostgresEngine(pool, common), ids)
}

const ownPoolOptions = [
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
  const open = (address: string, option: string, max: number, poolOptions = settings) => {
    const opened = createOwnPool(address, option, max, poolOptions)
    pools.push(opened)
    return opened
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
    usesOwnPg: true,
    end: () => Promise.all(pools.map((each) => each.end())),
  })
}

/** @throws TypeError When the schema's name is malformed. */
export function checkSchema(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new TypeError(`schema is ${JSON.stringify(schema)}; pass up to 63 lowercase letters, digits and underscores.`)
}
