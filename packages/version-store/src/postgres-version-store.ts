/** The adapter for PostgreSQL drivers. Source: docs/interface.md 6, receiver obligations. @module */
import { type BusyOptions, checkBusyOptions, startWait, type Wait } from './busy.js'
import { TransactionEndedError } from './errors.js'
import { listPages, type PageKey } from './internal/pages.js'
import { chooseDriver } from './internal/postgres/choose-driver.js'
import type { PostgresDriver, Work } from './internal/postgres/driver.js'
import {
  advanceStatement,
  commitCheckSql,
  isTransactionEnded,
  pageStatement,
  plainStatement,
  readStatement,
  rejectMissingTable,
  tableSql,
  toAdvanceError,
  toCommitError,
} from './internal/postgres/driver.js'
import { getConnectionQueues } from './internal/queue.js'
import type {
  DrizzleDatabase,
  DrizzleSql,
  KyselyDatabase,
  PostgresDatabase,
  PostgresTransaction,
} from './postgres-database.js'
import type { Effect, ListingVersionStore, PaymentKey, VersionedPayment } from './version-store.js'
import { checkVersion, decideVersion, normalizeIntegration, toKeyParts, type VersionDecision } from './version-store.js'

/** Where versions are kept, and how long the database lets a transaction wait. */
export type PostgresVersionStoreOptions<Database> = BusyOptions & {
  /**
   * Your pool, connection or query builder. Effects get its own transaction object as `tx`.
   * Let no other code use a `Client` of `pg` that you pass: see {@link PgClient}. A pool of `pg` needs a
   * `connectionTimeoutMillis`, or a call waits for a connection for ever.
   */
  readonly database: Database
  /** The table, with or without its schema: lower-case letters, digits and underscores. @default 'payment_versions' */
  readonly table?: string | undefined
  /**
   * With `pg`: whether the server keeps prepared statements of the store.
   * A pooler, DISCARD ALL or DEALLOCATE ALL can lose a prepared statement (26000) or keep another (42P05). The failed
   * statement has changed nothing and runs again unprepared, and a pool closes the connection. The store then gives up
   * EXECUTE, which PgBouncer does not know; if names fail too, it gives up prepared statements.
   * `false` spares these attempts behind a pooler without prepared statements: PgBouncer before 1.21, or with
   * `max_prepared_statements = 0`. postgres.js has its own option.
   * @default true
   */
  readonly prepare?: boolean | undefined
  /**
   * Longest time for one statement of the transaction, including the effect's, in milliseconds; 0 for no limit.
   * Keep it below the 5 seconds after which the service stops waiting.
   * @default 4000
   */
  readonly statementTimeoutMs?: number | undefined
  /**
   * Longest time between two statements of an effect, in milliseconds; 0 for no limit. The server then ends the
   * connection and rolls back, so that a hung effect blocks neither payment nor connection.
   * Only with `pg`: with other drivers, a connection that the server ends can crash the process or split a transaction.
   * @default 4500
   */
  readonly idleTimeoutMs?: number | undefined
} & (Database extends KyselyDatabase
    ? { readonly sql?: undefined }
    : Database extends DrizzleDatabase
      ? {
          /** The `sql` of drizzle-orm. */
          readonly sql: DrizzleSql
        }
      : { readonly sql?: undefined })

/** A version store that also works in transactions of yours. */
export interface PostgresVersionStore<Tx> extends ListingVersionStore<Tx> {
  /**
   * The store inside of your own transaction: your commit or rollback decides about version and effect.
   * An effect that throws rolls back its own work alone, at a savepoint, so that you can go on. Only your own
   * `lock_timeout` limits a wait for a lock. Above READ COMMITTED, begin again after a serialization failure (40001).
   * Advance several payments in one order everywhere, or two transactions may deadlock (40P01).
   */
  in(tx: Tx): ListingVersionStore<Tx>
  /** Creates the table where it is missing, by {@link postgresVersionTable}. Safe in several processes at once. */
  migrate(): Promise<void>
}

/** Milliseconds. The service stops waiting after 5 seconds. Source: docs/interface.md 6. */
const defaults = { table: 'payment_versions', statementTimeoutMs: 4000, idleTimeoutMs: 4500 } as const

/**
 * Writes the SQL that creates the table, for your own migrations.
 * @param table - Lower-case letters, digits and underscores, with or without a schema. @default 'payment_versions'
 * @throws {TypeError} When `table` has other characters.
 * @example
 * import { postgresVersionTable } from '@payment-integration/version-store/postgres'
 * console.log(postgresVersionTable('shop.payment_versions'))
 */
export function postgresVersionTable(table: string = defaults.table): string {
  return tableSql(table)
}

/**
 * Creates a store on PostgreSQL 12 or later. `advance` begins a transaction (READ COMMITTED), stores the version, runs
 * the effect with the driver's own transaction, and commits: a crash leaves version and effect both stored, or neither.
 * Deliveries of one payment run one after the other, and wait for `busyTimeoutMs` in all. In this process they queue
 * before they take a connection; across processes they queue in the database. Payments wait for each other only when
 * the pool is empty. No effect is retried: its deadlock (40P01) is thrown, and the next delivery retries.
 * @throws {TypeError | RangeError} When an option has no usable form. Its methods throw `ERR_VERSION_STORE_BUSY`,
 * `ERR_VERSION_TABLE_MISSING`, `ERR_TRANSACTION_OPEN`, `ERR_TRANSACTION_ENDED`, `ERR_TRANSACTION_FAILED`,
 * `ERR_EFFECT_REENTRANT`, and the driver's own errors unchanged.
 * @example
 * import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
 * import pg from 'pg'
 * const database = new pg.Pool({ connectionString: 'postgres://app@db/shop', connectionTimeoutMillis: 2_000 })
 * const store = createPostgresVersionStore({ database })
 * await store.migrate()
 */
export function createPostgresVersionStore<Database extends PostgresDatabase>(
  options: PostgresVersionStoreOptions<Database>,
): PostgresVersionStore<PostgresTransaction<Database>> {
  type Tx = PostgresTransaction<Database> & object
  const { database, table = defaults.table, prepare = true, sql } = Object(options) as typeof options
  const driver = chooseDriver(database, sql, prepare) as PostgresDriver<Tx>
  const busy = checkBusyOptions(options)
  const statementMs = checkMilliseconds('statementTimeoutMs', options.statementTimeoutMs ?? defaults.statementTimeoutMs)
  const idleMs = checkMilliseconds('idleTimeoutMs', options.idleTimeoutMs ?? defaults.idleTimeoutMs)
  const limits = { statementMs, idleMs: driver.survivesIdleTimeout ? idleMs : 0 }
  const ownStatement = advanceStatement(table, limits)
  const nestedStatement = advanceStatement(table)
  const read = readStatement(table)
  const page = pageStatement(table)
  const { guard, queue } = getConnectionQueues(database)

  async function queryVersion(tx: Tx | undefined, key: readonly string[]): Promise<number | undefined> {
    const [row] = await driver.query(tx, { statement: read, values: key }).catch(rejectMissingTable(table))
    return row === undefined ? undefined : Number(row['version'])
  }

  async function queryPage(tx: Tx | undefined, address: string, after: PageKey): Promise<PageKey[]> {
    const rows = await driver
      .query(tx, { statement: page, values: [address, ...after] })
      .catch(rejectMissingTable(table))
    return rows.map(({ chain, hash }) => [String(chain), String(hash)])
  }

  /** A store. On a pool, deliveries of one payment take turns; on one connection or transaction, all calls do. */
  function createStoreOn(holder: object, outerTx?: Tx): ListingVersionStore<Tx> {
    const { queue, payments } = getConnectionQueues(holder)
    const isPool = outerTx === undefined && driver.connection === undefined
    const inTurn = <Result>(job: () => Promise<Result>) =>
      isPool ? job() : queue.run(job, startWait(busy).waitForTimeout)

    async function advance(key: readonly string[], version: number, effect: Effect<Tx>, { leftMs }: Wait) {
      let failure: { readonly error: unknown } | undefined
      let isVersionWritten = false
      const values = [...key, String(version)]
      // For the server, 0 means no limit.
      const lockMs = Math.max(1, Math.ceil(leftMs()))
      const work: Work<Tx, VersionDecision> = async (tx, [writtenRow]) => {
        if (writtenRow === undefined) {
          // The statement locked the row, so it exists. But a row-level policy may hide it from this read.
          const stored = await queryVersion(tx, key)
          if (stored === undefined)
            throw new Error(
              `The row of a payment in ${table} cannot be read; check the row-level security policies of its user.`,
            )
          return { result: decideVersion(stored, version) }
        }
        isVersionWritten = true
        const commitCheck = commitCheckSql(String(writtenRow['xact']))
        try {
          await guard.start(() => effect(tx))
        } catch (error) {
          const ended = await driver.query(tx, plainStatement(commitCheck)).then(() => false, isTransactionEnded)
          failure = { error: ended ? new TransactionEndedError(error) : error }
          throw error
        }
        return { result: 'apply', commitCheck }
      }
      try {
        if (outerTx !== undefined) return await driver.nested(outerTx, { statement: nestedStatement, values }, work)
        return await driver.transaction({ statement: ownStatement, values: [String(lockMs), ...values] }, work)
      } catch (error) {
        // A driver may replace the effect's error by an error of the ROLLBACK.
        if (failure !== undefined) throw failure.error
        throw isVersionWritten ? toCommitError(error) : toAdvanceError(error, table, busy.busyTimeoutMs)
      }
    }

    return {
      async advance(payment: VersionedPayment, effect: Effect<Tx>) {
        guard.check()
        const key = toKeyParts(payment)
        const version = checkVersion(payment)
        const wait = startWait(busy)
        const job = () => advance(key, version, effect, wait)
        return isPool
          ? payments.run(JSON.stringify([table, ...key]), job, wait.waitForTimeout)
          : queue.run(job, wait.waitForTimeout)
      },
      async current(payment: PaymentKey) {
        guard.check()
        const key = toKeyParts(payment)
        return inTurn(() => queryVersion(outerTx, key))
      },
      async *list(integrationAddress: string) {
        guard.check()
        const address = normalizeIntegration(integrationAddress)
        yield* listPages(address, (after) => inTurn(() => queryPage(outerTx, address, after)))
      },
    }
  }

  return {
    ...createStoreOn(database),
    in: (tx: Tx) => createStoreOn(tx, tx),
    async migrate() {
      // Two CREATE TABLE IF NOT EXISTS at once can fail; the lock ends with the transaction.
      const lock = plainStatement(`SELECT pg_advisory_xact_lock(${migrationLock})`)
      const create = () =>
        driver.transaction(lock, async (tx) => {
          await driver.query(tx, plainStatement(tableSql(table)))
          return { result: undefined }
        })
      // One connection has one transaction at a time.
      await (driver.connection === undefined ? create() : queue.run(create, startWait(busy).waitForTimeout))
    },
  } as PostgresVersionStore<PostgresTransaction<Database>>
}

/** The server's limit: 32 bits. */
const maxMs = 2_147_483_647

/** Number of the advisory lock: any number that others do not use. */
const migrationLock = 5_021_984_733

function checkMilliseconds(name: string, ms: number): number {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > maxMs)
    throw new RangeError(`${name} is ${ms}; pass whole milliseconds, 0 or more.`)
  return ms
}
