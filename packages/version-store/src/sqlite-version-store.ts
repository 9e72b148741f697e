/** The adapter for SQLite drivers. Source: docs/interface.md 6, receiver obligations. @module */
import { type BusyOptions, checkBusyOptions, startWait } from './busy.js'
import { TransactionEndedError, TransactionOpenError } from './errors.js'
import { listPages, type PageKey, pageSize } from './internal/pages.js'
import { getConnectionQueues } from './internal/queue.js'
import type { KeyParts, ListingVersionStore, VersionDecision } from './version-store.js'
import { checkVersion, decideVersion, normalizeIntegration, toKeyParts } from './version-store.js'

/** The used part of a connection of `node:sqlite`, `@photostructure/sqlite` or `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): {
    get(...values: (string | number)[]): unknown
    run(...values: (string | number)[]): unknown
    all(...values: (string | number)[]): unknown[]
  }
  /** Whether a transaction is open; a property of `node:sqlite` since Node 22.16. */
  readonly isTransaction?: boolean
  /** Whether a transaction is open; a property of `better-sqlite3`. */
  readonly inTransaction?: boolean
}

/** Creates the table where it is missing. Reuse the statements only after a commit: a rollback drops the table. */
function prepareStatements(database: SqliteDatabase, table: string) {
  database.exec(`CREATE TABLE IF NOT EXISTS ${table} (
    integration_address TEXT NOT NULL,
    chain_id TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    PRIMARY KEY (integration_address, chain_id, tx_hash)
  ) WITHOUT ROWID`)
  const upsert = database.prepare(
    `INSERT INTO ${table} (integration_address, chain_id, tx_hash, version) VALUES (?, ?, ?, ?)
     ON CONFLICT (integration_address, chain_id, tx_hash) DO UPDATE SET version = excluded.version`,
  )
  const write = (key: KeyParts, version: number) => void upsert.run(...key, version)
  return { read: prepareRead(database, table), write }
}

/** The payments of an integration after this key. */
function queryPage(database: SqliteDatabase, table: string, address: string, after: PageKey): PageKey[] {
  const select = () =>
    database
      .prepare(
        `SELECT chain_id, tx_hash FROM ${table}
         WHERE integration_address = ? AND (chain_id, tx_hash) > (?, ?) ORDER BY chain_id, tx_hash LIMIT ${pageSize}`,
      )
      .all(address, ...after)
  return (ignoreMissingTable(select) ?? []).map((row) => listValues<[chainId: string, txHash: string]>(row))
}

/** The columns by position: a connection may return rows as arrays, as node:sqlite does with `returnArrays`. */
function listValues<Row extends readonly unknown[]>(row: unknown): Row {
  return Object.values(row as object) as unknown as Row
}

/** Reads without creating anything: where there is no table yet, no payment has a version. */
function ignoreMissingTable<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (hasMessage(error, /no such table/)) return undefined
    throw error
  }
}

function prepareRead(database: SqliteDatabase, table: string) {
  const select = database.prepare(
    `SELECT version FROM ${table} WHERE integration_address = ? AND chain_id = ? AND tx_hash = ?`,
  )
  return (key: KeyParts) => {
    const row = select.get(...key)
    return row ? Number(listValues<[version: number | bigint]>(row)[0]) : undefined
  }
}

// The store's transaction, and whether an effect left it open. A savepoint ends with its transaction, so on every
// driver its presence proves that the store's own transaction is still open.

/** The savepoint that is made before the effect and released after it. */
const effectSavepoint = 'payment_version_effect'

/** @throws {@link TransactionOpenError} `ERR_TRANSACTION_OPEN` inside of another transaction, which stays as it is. */
function begin(database: SqliteDatabase): void {
  if ((database.isTransaction ?? database.inTransaction) === true) throw new TransactionOpenError()
  try {
    database.exec('BEGIN IMMEDIATE')
  } catch (error) {
    if (hasMessage(error, /within a transaction/)) throw new TransactionOpenError()
    // A driver may fail after SQLite began the transaction.
    rollBack(database)
    throw error
  }
}

/**
 * Rolls back an effect that threw, and returns the error to throw: the effect's own, or {@link TransactionEndedError}
 * when the savepoint is gone. Then no error proves that the writes are undone: SQLite rolls back by itself on a full
 * disk, but the effect may have run COMMIT before.
 */
function chooseEffectError(database: SqliteDatabase, error: unknown): unknown {
  if (execOnSavepoint(database, 'ROLLBACK TO')) return error
  rollBack(database)
  return new TransactionEndedError(error)
}

/**
 * Rolls back a transaction, if there is one. It never throws, so the first error stays visible. It tries twice, because
 * an open transaction would make every later call fail.
 */
function rollBack(database: SqliteDatabase): void {
  for (let attempt = 1; attempt <= 2; attempt++) {
    try {
      database.exec('ROLLBACK')
      return
    } catch (error) {
      if (hasMessage(error, /no transaction is active/)) return
    }
  }
}

/** Releases or rolls back to the savepoint; false when it no longer exists. Rethrows other errors. */
function execOnSavepoint(database: SqliteDatabase, verb: 'RELEASE' | 'ROLLBACK TO'): boolean {
  try {
    database.exec(`${verb} ${effectSavepoint}`)
    return true
  } catch (error) {
    if (hasMessage(error, /no such savepoint/)) return false
    throw error
  }
}

/** The words are SQLite's own, and the same in every driver. */
function hasMessage(error: unknown, words: RegExp): boolean {
  return words.test(String((Object(error) as Partial<Error>).message))
}

/** Where versions are kept, and how long a call waits. */
export interface SqliteVersionStoreOptions<Database extends SqliteDatabase> extends BusyOptions {
  /** Your open connection. Effects get this same handle as `tx`. */
  readonly database: Database
  /** The table, created by the first `advance`. Letters, digits and underscores. @default 'payment_versions' */
  readonly table?: string | undefined
}

/**
 * Creates a store on a SQLite connection. `advance` begins a transaction (IMMEDIATE), compares, runs the effect with
 * the connection, stores the version, and commits. A crash leaves version and effect both stored, or neither.
 * Transactions of a connection run one after the other; a call waits at most `busyTimeoutMs` for its turn.
 *
 * While an asynchronous effect waits, other code's statements on the connection join its open transaction. Give the
 * store its own connection, or return no promise from the effect. Journal mode and `synchronous` stay unchanged.
 * @throws {TypeError | RangeError} When an option is out of range. Its methods throw `ERR_VERSION_STORE_BUSY`,
 * `ERR_TRANSACTION_OPEN`, `ERR_TRANSACTION_ENDED`, `ERR_EFFECT_REENTRANT`, and the driver's own errors unchanged.
 * @example
 * import { DatabaseSync } from '@photostructure/sqlite' // on Node 22.13 and later: 'node:sqlite'
 * import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
 * const store = createSqliteVersionStore({ database: new DatabaseSync('receiver.db') })
 */
export function createSqliteVersionStore<Database extends SqliteDatabase>(
  options: SqliteVersionStoreOptions<Database>,
): ListingVersionStore<Database> {
  const { database, table = 'payment_versions' } = Object(options) as typeof options
  if (typeof database?.prepare !== 'function')
    throw new TypeError('database has no prepare(); pass an open connection.')
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(table))
    throw new TypeError(
      `table is ${JSON.stringify(table)}; pass 1 to 63 letters, digits and underscores, the first no digit.`,
    )
  const busy = checkBusyOptions(options)
  const queues = getConnectionQueues(database)

  /** Kept only after a commit has stored their table. */
  let statements: ReturnType<typeof prepareStatements> | undefined

  function inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const { whileLocked, waitForTimeout } = startWait(busy)
    return queues.queue.run(() => whileLocked(work), waitForTimeout)
  }

  return {
    async advance(payment, effect) {
      queues.guard.check()
      const key = toKeyParts(payment)
      const version = checkVersion(payment)

      /** Lets other code run only while it waits for an asynchronous effect or for a lock. */
      async function runTransaction(): Promise<VersionDecision> {
        try {
          const { read, write } = statements ?? prepareStatements(database, table)
          const decision = decideVersion(read(key), version)
          if (decision === 'apply') {
            database.exec(`SAVEPOINT ${effectSavepoint}`)
            try {
              const pending = queues.guard.start(() => effect(database))
              if (pending !== undefined) await pending
            } catch (error) {
              throw chooseEffectError(database, error)
            }
            if (!execOnSavepoint(database, 'RELEASE')) throw new TransactionEndedError()
            write(key, version)
          }
          await startWait(busy).whileLocked(() => database.exec('COMMIT'))
          statements = { read, write }
          return decision
        } catch (error) {
          rollBack(database)
          throw error
        }
      }

      return inTurn(() => {
        begin(database)
        return runTransaction()
      })
    },
    async current(payment) {
      queues.guard.check()
      const key = toKeyParts(payment)
      return inTurn(() =>
        statements ? statements.read(key) : ignoreMissingTable(() => prepareRead(database, table)(key)),
      )
    },
    async *list(integrationAddress) {
      queues.guard.check()
      const address = normalizeIntegration(integrationAddress)
      yield* listPages(address, (after) => inTurn(() => queryPage(database, table, address, after)))
    },
  }
}
