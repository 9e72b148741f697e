/** The engine over pools of connections to PostgreSQL. @module */
import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { Engine, Reader, SqlDialect, TransactionOptions } from '../engine.js'
import type { Tables } from '../schema/tables.js'
import { checkEngine } from './check-engine.js'
import { createDueChannel } from './due-channel.js'
import { createOldestSnapshot } from './oldest-snapshot.js'
import type { Limits, PostgresDriverOptions } from './postgres-connection.js'
import { postgresDialect } from './postgres-dialect.js'
import { kyselyOn, PostgresDriver } from './postgres-driver.js'
import { conflictError, isConflict } from './postgres-error.js'
import { exclusively, findIndex, makeIndex } from './postgres-migration.js'
import { measureStandby } from './postgres-reader.js'
import { createLocks } from './row-locks.js'

/** Most attempts of a transaction after serialization failures or deadlocks. */
const conflictAttempts = 5

/** How an engine uses its pools. */
export interface PostgresEngineOptions {
  readonly schema: string
  readonly now?: (() => number) | undefined
  /** False: the pool is behind a pooler, so nothing is kept in a session. @default true */
  readonly preparedStatements?: boolean | undefined
  readonly answerTimeoutMs?: number | undefined
  /** Whether the clients are of this package's own `pg`. @default false */
  readonly ownClients?: boolean | undefined
  /** Time limits that each transaction sets itself. @default those of the connections */
  readonly limits?: Limits | undefined
  /** Connections past a pooler, each with a session of its own. @default `pool`, unless it is behind a pooler */
  readonly direct?: pg.Pool | undefined
  /** Connections to a standby. */
  readonly reader?: StandbyOptions | undefined
  /** Product that the operator accepts. @default the known ones */
  readonly acceptedEngine?: string | undefined
  /** Closes pools that the store owns. */
  readonly end?: (() => Promise<unknown>) | undefined
}

/** The engine over a pool. */
export function createPostgresEngine(pool: pg.Pool, options: PostgresEngineOptions): Engine {
  const { schema, now, end, answerTimeoutMs, ownClients = false, limits, acceptedEngine } = options
  const { preparedStatements: keepsPlans = true } = options
  const direct = options.direct ?? (keepsPlans ? pool : undefined)
  const settings = { keepsPlans, ownClients, answerTimeoutMs, limits }
  const driver = new PostgresDriver(pool, settings)
  // For statements that take as long as they take.
  const patient = new PostgresDriver(direct ?? pool, { ...settings, answerTimeoutMs: undefined })
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
  const channel = createDueChannel(schema, direct?.options ?? null, (text) =>
    driver.rows({ sql: text, parameters: [] }),
  )
  const dialect = postgresDialect(schema, now)
  const reader = options.reader && openReader(options.reader, { driver, settings, schema, dialect })
  const transaction: Engine['transaction'] = (work, given = {}) =>
    withRetries(() =>
      transactor(given)
        .transaction()
        .execute((tx) => work(tx.withSchema(schema))),
    )
  let closing: Promise<void> | undefined
  return {
    check: () => checkEngine((query) => driver.rows(query), acceptedEngine),
    dialect,
    reader,
    read: kyselyOn(driver).withSchema(schema),
    rows: (query) => driver.rows(query),
    transaction,
    async exclusively(work) {
      await createLocks((create) => transaction(create), schema, dialect)
      return exclusively((query) => driver.rows(query), dialect.name, work)
    },
    hasIndex: async (name) => (await findIndex((query) => driver.rows(query), schema, name)) === true,
    makeIndex: (index) => makeIndex(patient, schema, index, direct !== undefined),
    announceDue: () => channel.announce(),
    whenDue: (listener) => channel.listen(listener),
    oldestSnapshot: createOldestSnapshot((query) => driver.rows(query), now ?? Date.now),
    close() {
      closed = true
      driver.close()
      patient.close()
      reader?.close()
      for (const own of transactors.values()) own.driver.close()
      closing ??= channel
        .close()
        .then(() => end?.())
        .then(() => undefined)
      return closing
    },
  }
}

/** A standby to read from. */
interface StandbyOptions {
  readonly pool: pg.Pool
  readonly maxLagMs: number
  /** Longest wait for an answer. */
  readonly answerTimeoutMs: number
}

/** The reads of a standby, and the measure of its lag. */
function openReader(
  { pool, maxLagMs, answerTimeoutMs }: StandbyOptions,
  parts: { driver: PostgresDriver; settings: PostgresDriverOptions; schema: string; dialect: SqlDialect },
): Reader & { close(): void } {
  const { driver, settings, schema, dialect } = parts
  const standby = new PostgresDriver(pool, { ...settings, answerTimeoutMs })
  const { isFresh, distrust, close } = measureStandby(driver, standby, maxLagMs)
  return {
    dialect,
    read: kyselyOn(standby).withSchema(schema),
    rows: (query) => standby.rows(query),
    isFresh,
    distrust,
    close() {
      close()
      standby.close()
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
      if (attempt === conflictAttempts) throw conflictError(error, attempt)
    }
  }
}
