/** Creates the PostgreSQL store, for more than one machine. @module */
import type { Clock, Ids, Store } from '@payment-integration/core/ports'
import type { Kysely } from 'kysely'
import pg from 'pg'
import { createStore } from '../create-store.js'
import type { Engine, TransactionOptions } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import type { Tables } from '../schema/tables.js'
import { type CompactionLimits, createOutboxCompactor } from './compact-outbox.js'
import { createDueChannel } from './due-channel.js'
import { postgresDialect } from './postgres-dialect.js'
import { kyselyOn, PostgresDriver } from './postgres-driver.js'
import { conflictError, isConflict } from './postgres-error.js'
import { exclusively, findIndex, makeIndex } from './postgres-migration.js'

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
  readonly ids?: Ids | undefined
  /**
   * Whether frequent reads, claims and settlements are prepared statements. Switch it off behind a pooler that gives
   * each transaction another connection and does not support them.
   * @default true
   */
  readonly preparedStatements?: boolean | undefined
  /** Most connections at a time; only with `connectionString`. @default 10 */
  readonly maxConnections?: number | undefined
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
   * For a silent server. A server that still answers reports its own time-out first, unless long statements are queued
   * before the others.
   */
  answerTimeoutMs: 35_000,
  /** Most attempts of a transaction after serialization failures or deadlocks. */
  conflictAttempts: 5,
} as const

/**
 * Creates a store in a PostgreSQL database. It connects at the first call.
 * @throws TypeError When not exactly one of `connectionString` and `pool` is given, or an option is malformed.
 * @throws RangeError When `maxConnections` is not a whole number from 1.
 * @example createPostgresStore({ connectionString: 'postgres://app@db.internal/payments' })
 */
export function createPostgresStore(options: PostgresStoreOptions): Store {
  const { connectionString, pool, clock, ids, maxConnections, preparedStatements } = options
  const { schema = postgresStoreDefaults.schema } = options
  if ((connectionString === undefined) === (pool === undefined))
    throw new TypeError('Pass either connectionString or pool.')
  checkSchema(schema)
  if (pool !== undefined && maxConnections !== undefined)
    throw new TypeError('maxConnections is given together with pool; set the size of the pool where it is made.')
  if (preparedStatements !== undefined && typeof preparedStatements !== 'boolean')
    throw new TypeError('preparedStatements is neither true nor false.')
  const now = clock && (() => clock.now())
  if (pool !== undefined) return createStore(createPostgresEngine(pool, { schema, now, preparedStatements }), ids)
  const own = ownPool(connectionString ?? '', maxConnections ?? postgresStoreDefaults.maxConnections)
  return createStore(
    createPostgresEngine(own, {
      schema,
      now,
      preparedStatements,
      answerTimeoutMs: postgresStoreDefaults.answerTimeoutMs,
      ownClients: true,
      end: () => own.end(),
    }),
    ids,
  )
}

/** @throws TypeError When the schema's name is malformed. */
export function checkSchema(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new TypeError(`schema is ${JSON.stringify(schema)}; pass up to 63 lowercase letters, digits and underscores.`)
}

function ownPool(connectionString: string, maxConnections: number): pg.Pool {
  // The address may contain a password: no message repeats it.
  if (!/^postgres(ql)?:\/\//.test(connectionString))
    throw new TypeError('connectionString is not a postgres:// address.')
  checkInteger(maxConnections, 'maxConnections', 1, 10_000)
  const { connectTimeoutMs, lockTimeoutMs, statementTimeoutMs, idleInTransactionTimeoutMs } = postgresStoreDefaults
  const pool = new pg.Pool({
    connectionString,
    max: maxConnections,
    application_name: 'payment-integration',
    connectionTimeoutMillis: connectTimeoutMs,
    lock_timeout: lockTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
    pipeline: true,
  })
  // The next use replaces a broken idle connection. Without a listener its error would end the process.
  pool.on('error', () => undefined)
  return pool
}

/** The engine over a pool; `end` closes a pool that the store owns. */
export function createPostgresEngine(
  pool: pg.Pool,
  options: {
    schema: string
    now?: (() => number) | undefined
    preparedStatements?: boolean | undefined
    answerTimeoutMs?: number | undefined
    ownClients?: boolean
    end?: () => Promise<void>
    compaction?: Partial<CompactionLimits>
  },
): Engine {
  const { schema, now, end, answerTimeoutMs, ownClients = false, compaction } = options
  const { preparedStatements: keepsPlans = postgresStoreDefaults.preparedStatements } = options
  const settings = { keepsPlans, ownClients, answerTimeoutMs }
  const driver = new PostgresDriver(pool, settings)
  // For statements that take as long as they take.
  const patient = new PostgresDriver(pool, { ...settings, answerTimeoutMs: undefined })
  const transactors = new Map<string, { readonly driver: PostgresDriver; readonly db: Kysely<Tables> }>()
  let closed = false
  function transactor({ durable = true, searches = false, isLong = false }: TransactionOptions) {
    const kind = JSON.stringify([durable, searches, isLong])
    const known = transactors.get(kind)
    if (known !== undefined) return known.db
    const own = new PostgresDriver(pool, {
      ...settings,
      durable,
      searches,
      ...(isLong ? { isLong, answerTimeoutMs: undefined } : {}),
    })
    if (closed) own.close()
    const made = { driver: own, db: kyselyOn(own) }
    transactors.set(kind, made)
    return made.db
  }
  const channel = createDueChannel(schema, pool.options, (text) => driver.rows({ sql: text, parameters: [] }))
  const compactor = createOutboxCompactor(driver, schema, compaction)
  let closing: Promise<void> | undefined
  return {
    dialect: postgresDialect(schema, now),
    read: kyselyOn(driver).withSchema(schema),
    rows: (query) => driver.rows(query),
    transaction: (work, options = {}) =>
      withRetries(() =>
        transactor(options)
          .transaction()
          .execute((tx) => work(tx.withSchema(schema))),
      ),
    exclusively: (work) => exclusively(pool, schema, transactor({ isLong: true }), work),
    hasIndex: async (name) => (await findIndex((query) => driver.rows(query), schema, name)) === true,
    makeIndex: (index) => makeIndex(patient, schema, index),
    announceDue: () => channel.announce(),
    whenDue: (listener) => channel.listen(listener),
    countSettled: (attempts) => compactor.settled(attempts),
    close() {
      closed = true
      driver.close()
      patient.close()
      for (const own of transactors.values()) own.driver.close()
      closing ??= Promise.all([channel.close(), compactor.idle()]).then(() => end?.())
      return closing
    },
  }
}

// After a conflict another transaction has committed, so an immediate retry makes progress.
async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (!isConflict(error)) throw error
      if (attempt === postgresStoreDefaults.conflictAttempts) throw conflictError(error, attempt)
    }
  }
}
