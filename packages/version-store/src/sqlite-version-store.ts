/** The adapter for SQLite drivers. Source: docs/interface.md 6, receiver obligations. @module */

import type { BusyOptions } from './busy-options.js'
import { decideVersion, type VersionDecision } from './decide-version.js'
import { busyOptions, startWait } from './internal/busy.js'
import { lineOf } from './internal/line.js'
import { inPages } from './internal/pages.js'
import { columnsOf, prepareStatements, readPage, readVersion, type Statements } from './internal/sqlite-statements.js'
import { begin, endEffect, errorOfEffect, markEffect, rollBack } from './internal/sqlite-transaction.js'
import { checkVersion, normalizeIntegration } from './payment-key.js'
import type { SqliteDatabase } from './sqlite-database.js'
import type { ListingVersionStore } from './version-store.js'

/** Where versions are kept, and how long a call waits. */
export interface SqliteVersionStoreOptions<Database extends SqliteDatabase> extends BusyOptions {
  /** Your open connection. Effects get this same handle as `tx`. */
  readonly database: Database
  /** The table, created by the first `advance`. Letters, digits and underscores. @default 'payment_versions' */
  readonly table?: string | undefined
}

/**
 * Makes a store on a SQLite connection. `advance` begins a transaction (IMMEDIATE), compares, runs the effect with the
 * connection, stores the version, and commits. A crash at any point keeps both or neither. Transactions of a connection
 * run one after the other. A call that waits `busyTimeoutMs` for its turn throws `ERR_VERSION_STORE_BUSY`, so that an
 * effect that never settles does not block the others for ever.
 *
 * While an asynchronous effect waits, its transaction stays open, and other code's statements on the connection join
 * it. Give the store its own connection, or return no promise from the effect. Journal mode and `synchronous` are
 * yours.
 * @throws {TypeError | RangeError} When an option is out of range. Its methods throw `ERR_VERSION_STORE_BUSY`,
 * `ERR_TRANSACTION_OPEN`, `ERR_TRANSACTION_ENDED`, `ERR_EFFECT_REENTRANT`, and the driver's own errors unchanged.
 * @example const store = createSqliteVersionStore({ database: new DatabaseSync('receiver.db') })
 */
export function createSqliteVersionStore<Database extends SqliteDatabase>(
  options: SqliteVersionStoreOptions<Database>,
): ListingVersionStore<Database> {
  const { database, table = 'payment_versions' } = Object(options) as typeof options
  if (typeof database?.prepare !== 'function')
    throw new TypeError('database has no prepare(); pass an open connection.')
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(table))
    throw new TypeError('table must be 1 to 63 letters, digits and underscores, the first no digit.')
  const busy = busyOptions(options)
  // Stores on one connection share one line of transactions.
  const line = lineOf(database)

  /** Kept only once a commit has kept their table. */
  let statements: Statements | undefined

  function inTurn<Result>(read: () => Result): Promise<Result> {
    const { whileLocked, giveUp } = startWait(busy)
    return line.queue.run(() => whileLocked(read), giveUp)
  }

  return {
    async advance(payment, effect) {
      line.guard.check()
      const key = columnsOf(payment)
      const version = checkVersion(payment)

      /** Yields to other code only while an asynchronous effect is waited for, or a lock. */
      async function transaction(): Promise<VersionDecision> {
        try {
          const { read, write } = statements ?? prepareStatements(database, table)
          const decision = decideVersion(read(key), version)
          if (decision === 'apply') {
            markEffect(database)
            try {
              const pending = line.guard.start(() => effect(database))
              if (pending !== undefined) await pending
            } catch (error) {
              throw errorOfEffect(database, error)
            }
            endEffect(database)
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

      const { whileLocked, giveUp } = startWait(busy)
      return line.queue.run(() => whileLocked(() => begin(database), transaction), giveUp)
    },
    async current(payment) {
      line.guard.check()
      const key = columnsOf(payment)
      return inTurn(() => (statements ? statements.read(key) : readVersion(database, table, key)))
    },
    async *list(integrationAddress) {
      line.guard.check()
      const address = normalizeIntegration(integrationAddress)
      yield* inPages(address, (after) => inTurn(() => readPage(database, table, address, after)))
    },
  }
}
