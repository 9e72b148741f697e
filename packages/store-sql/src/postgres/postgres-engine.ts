/** The engine over connection pools to PostgreSQL, on supported products only. @module */
import { StoreError } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'
import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { Engine, NamedQuery, TransactionOptions } from '../engine.js'
import { withDialect } from '../engine.js'
import type { RawRows } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'
import { createDueChannel } from './due-channel.js'
import { createKysely, PostgresDriver, type PostgresDriverOptions } from './postgres-connection.js'
import { createOldestSnapshot, postgresDialect } from './postgres-dialect.js'
import { isConflict, toConflictError } from './postgres-error.js'
import { createIndex, readIndexValidity, runExclusively } from './postgres-migration.js'
import { measureStandby } from './postgres-reader.js'
import { createLocks } from './row-locks.js'

/** Products that are accepted by default. Source: docs/databases.md (engines). */
const knownProducts: readonly string[] = ['postgresql', 'aurora', 'alloydb']
/** The oldest tested version, as `server_version_num`. */
const minVersion = 150_000

/** Reads marks of products that `version()` does not name. */
const marksSql = `select current_setting('server_version_num')::int as version,
  exists (select from pg_catalog.pg_extension where extname = 'citus')::int as citus,
  exists (select from pg_catalog.pg_proc where proname = 'aurora_version')::int as aurora,
  exists (select from pg_catalog.pg_settings where name like 'alloydb.%')::int as alloydb`

/** Packagers of PostgreSQL add a name in brackets, and so do forks. */
const packagers = /^(Debian|Ubuntu|Raspbian|Red Hat|Homebrew|Postgres\.app|Percona)/

/** Rejects an unsupported product or version with `ERR_STORE_ENGINE`, unless `accepted` names it. */
export async function checkEngine(
  rows: (query: NamedQuery) => Promise<RawRows>,
  accepted: string | undefined,
): Promise<void> {
  const answer = await rows({ sql: 'select version()', parameters: [] })
  const text = String(answer.values[0]?.[0])
  // Other products than PostgreSQL may lack the catalogs that have the marks.
  const namedProduct = parseProduct(text)
  const { product, version } =
    namedProduct === 'postgresql' ? await readMarks(rows) : { product: namedProduct, version: null }
  if (product === accepted) return
  const shown = JSON.stringify(text.slice(0, 80))
  if (!knownProducts.includes(product))
    throw new StoreError(
      'ERR_STORE_ENGINE',
      `The database is ${product} (${shown}), on which this release was never tested: see docs/databases.md. To use it at your own risk, set PI_DATABASE_ENGINE=${product}.`,
    )
  if (accepted !== undefined)
    throw new StoreError(
      'ERR_STORE_ENGINE',
      `The database is ${product} (${shown}), and PI_DATABASE_ENGINE is ${accepted}; remove the variable.`,
    )
  if (version !== null && version < minVersion)
    throw new StoreError(
      'ERR_STORE_ENGINE',
      `The database is ${shown}; this release needs version ${minVersion / 10_000} or later.`,
    )
}

/** The product that `version()` names, in lowercase. */
export function parseProduct(version: string): string {
  if (/-YB-|yugabyte/i.test(version)) return 'yugabytedb'
  if (/redshift/i.test(version)) return 'redshift'
  const [, fork] = /^PostgreSQL [0-9][0-9A-Za-z.]*(?: \(([^)]*)\))?(?= on |,|$)/.exec(version) ?? [null, null]
  const isPostgres = fork === undefined || (fork !== null && packagers.test(fork))
  if (isPostgres) return 'postgresql'
  const [word = 'unknown'] = /[a-z][a-z0-9]*/.exec((fork ?? version).toLowerCase()) ?? []
  return word
}

async function readMarks(rows: (query: NamedQuery) => Promise<RawRows>) {
  const { columns, values } = await rows({ sql: marksSql, parameters: [] })
  const getNumber = (column: string) => Number(values[0]?.[columns.indexOf(column)])
  const product = ['citus', 'aurora', 'alloydb'].find((each) => getNumber(each) === 1) ?? 'postgresql'
  return { product, version: getNumber('version') }
}

/** The most attempts of a transaction that meets serialization failures or deadlocks. */
const maxAttempts = 5

export interface PostgresEngineOptions extends Pick<PostgresDriverOptions, 'answerTimeoutMs' | 'usesOwnPg' | 'limits'> {
  readonly schema: string
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** False behind a pooler in transaction mode, so that nothing is kept in a session. @default true */
  readonly preparedStatements?: boolean | undefined
  /** Connections that bypass a pooler, each with a session of its own. @default `pool`, unless behind a pooler */
  readonly direct?: pg.Pool | undefined
  readonly reader?: { readonly pool: pg.Pool; readonly maxLagMs: number; readonly answerTimeoutMs: number } | undefined
  /** An unknown product that the operator accepts. */
  readonly acceptedEngine?: string | undefined
  /** Closes pools that the store owns. */
  readonly end?: (() => Promise<unknown>) | undefined
}

export function createPostgresEngine(pool: pg.Pool, options: PostgresEngineOptions): Engine {
  const { schema, clock, end, answerTimeoutMs, usesOwnPg = false, limits, acceptedEngine } = options
  const { preparedStatements: keepsPlans = true } = options
  const direct = options.direct ?? (keepsPlans ? pool : undefined)
  let closing: Promise<void> | undefined
  const settings = { keepsPlans, usesOwnPg, answerTimeoutMs, limits, isClosed: () => closing !== undefined }
  const driver = new PostgresDriver(pool, settings)
  const driverWithoutLimit = new PostgresDriver(direct ?? pool, { ...settings, answerTimeoutMs: undefined })
  const transactors = new Map<string, Kysely<Tables>>()
  function getTransactor(mode: TransactionOptions) {
    const key = JSON.stringify(mode)
    const noLimit = mode.isLong === true ? { answerTimeoutMs: undefined } : {}
    const db = transactors.get(key) ?? createKysely(new PostgresDriver(pool, { ...settings, ...mode, ...noLimit }))
    transactors.set(key, db)
    return db
  }
  const rows = (query: NamedQuery) => driver.rows(query)
  const channel = createDueChannel(schema, direct?.options ?? null, (sql) => rows({ sql, parameters: [] }))
  const dialect = postgresDialect(schema, clock)
  const bindConnection = (to: PostgresDriver) => withDialect(createKysely(to).withSchema(schema), dialect)
  function openReader(standbyOptions: NonNullable<PostgresEngineOptions['reader']>) {
    const standby = new PostgresDriver(standbyOptions.pool, {
      ...settings,
      answerTimeoutMs: standbyOptions.answerTimeoutMs,
    })
    return {
      read: bindConnection(standby),
      rows: (query: NamedQuery) => standby.rows(query),
      ...measureStandby(driver, standby, standbyOptions.maxLagMs),
    }
  }
  const reader = options.reader && openReader(options.reader)
  const transaction: Engine['transaction'] = (work, mode = {}) =>
    withRetries(() =>
      getTransactor(mode)
        .transaction()
        .execute((tx) => work(withDialect(tx.withSchema(schema), dialect))),
    )
  return {
    check: () => checkEngine(rows, acceptedEngine),
    dialect,
    reader,
    read: bindConnection(driver),
    rows,
    transaction,
    async runExclusively(work) {
      await createLocks(transaction, schema)
      return runExclusively(rows, dialect.name, work)
    },
    hasIndex: async (name) => (await readIndexValidity(rows, schema, name)) === true,
    createIndex: (index) => createIndex(driverWithoutLimit, schema, index, direct !== undefined),
    announceDue: () => channel.announce(),
    whenDue: (listener) => channel.listen(listener),
    oldestSnapshot: createOldestSnapshot(rows, clock ?? Date),
    close() {
      reader?.close()
      closing ??= channel
        .close()
        .then(() => end?.())
        .then(() => undefined)
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
      if (attempt === maxAttempts) throw toConflictError(error, attempt)
    }
  }
}
