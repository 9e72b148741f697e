/**
 * Failures of a store itself, not of an effect. An answer outside 2xx makes the service retry.
 * Source: docs/interface.md 6, delivery.
 * @module
 */

/** Every code of this package. */
export type VersionStoreErrorCode =
  | 'ERR_EFFECT_REENTRANT'
  | 'ERR_LEASE_LOST'
  | 'ERR_TRANSACTION_ENDED'
  | 'ERR_TRANSACTION_FAILED'
  | 'ERR_TRANSACTION_OPEN'
  | 'ERR_VERSION_STORE_BUSY'
  | 'ERR_VERSION_TABLE_MISSING'

/** Base of the errors of this package. `retryable`: the same call may succeed later, unchanged. */
export abstract class VersionStoreError extends Error {
  abstract readonly code: VersionStoreErrorCode
  readonly retryable: boolean = false
}

/** An effect called its own store, and would wait for itself. Read and write through `tx` instead. */
export class EffectReentrantError extends VersionStoreError {
  override readonly name = 'EffectReentrantError'
  readonly code = 'ERR_EFFECT_REENTRANT'
  constructor() {
    super(
      'An effect called the version store that runs it, and would wait for itself. Use the transaction it was given.',
    )
  }
}

/**
 * A call waited `busyTimeoutMs` for its turn. Nothing was stored; answer 503 and the service retries.
 * The effect did not run, with one exception: a COMMIT of SQLite can wait that long for a lock after the effect.
 * The effect's writes through `tx` are then rolled back; its other work is not.
 */
export class StoreBusyError extends VersionStoreError {
  override readonly name = 'StoreBusyError'
  readonly code = 'ERR_VERSION_STORE_BUSY'
  override readonly retryable = true
  readonly status = 503
  /**
   * `lock`: another connection locked the database or the payment. `effect`: other effects run on this connection or,
   * on a pool and in Redis, for this payment. The first of them may never end.
   */
  readonly waitedFor: 'lock' | 'effect'
  /** @param cause - The driver's error, for a lock. */
  constructor(busyTimeoutMs: number, waitedFor: 'lock' | 'effect', cause?: unknown) {
    super(
      waitedFor === 'lock'
        ? `Another connection held the lock for ${busyTimeoutMs} ms. Shorten its transactions.`
        : `Other effects ran before this one for ${busyTimeoutMs} ms. Shorten them, and make sure that each ends.`,
      cause === undefined ? undefined : { cause },
    )
    this.waitedFor = waitedFor
  }
}

/** A transaction that the store did not begin is open on its connection. Nothing was stored. */
export class TransactionOpenError extends VersionStoreError {
  override readonly name = 'TransactionOpenError'
  readonly code = 'ERR_TRANSACTION_OPEN'
  constructor() {
    super('A transaction is already open on this connection. End it first, or give the store a connection of its own.')
  }
}

/**
 * The effect ended the store's transaction, even if it began another. The effect's writes may be committed. The version
 * is not; but PostgreSQL stores it before the effect, so there an effect's COMMIT commits the version too.
 * Remove COMMIT and ROLLBACK from the effect. If the effect threw too, its error is the `cause`.
 */
export class TransactionEndedError extends VersionStoreError {
  override readonly name = 'TransactionEndedError'
  readonly code = 'ERR_TRANSACTION_ENDED'
  constructor(cause?: unknown) {
    super(
      'The effect ended the transaction of the version store. Remove COMMIT and ROLLBACK from it; throw to undo.',
      cause === undefined ? undefined : { cause },
    )
  }
}

/**
 * A statement of the effect failed, and the effect went on. PostgreSQL commits nothing of such a transaction.
 * Let the error leave the effect, or run the statement at a savepoint. With `in`, your transaction had failed before.
 */
export class TransactionFailedError extends VersionStoreError {
  override readonly name = 'TransactionFailedError'
  readonly code = 'ERR_TRANSACTION_FAILED'
  /** @param cause - The driver's error. */
  constructor(cause: unknown) {
    super(
      'An earlier statement of the transaction failed, so nothing of it can be committed. Let its error leave the effect.',
      { cause },
    )
  }
}

/** The table of versions does not exist. Nothing was stored. */
export class TableMissingError extends VersionStoreError {
  override readonly name = 'TableMissingError'
  readonly code = 'ERR_VERSION_TABLE_MISSING'
  /** @param cause - The driver's error. */
  constructor(table: string, cause: unknown) {
    super(`There is no table ${table}. Run migrate() of the store once, or the SQL of postgresVersionTable().`, {
      cause,
    })
  }
}

/**
 * The effect took longer than `leaseMs`, and another delivery may have begun. Nothing was written through `tx`, and the
 * version is not stored. Other work of the effect may repeat. Lengthen the lease, or shorten the effect.
 * In one case the writes are stored all the same: the connection broke before the last answer, and a greater version
 * was stored before the client resent the commit. The next delivery is then rightly `stale`.
 */
export class LeaseLostError extends VersionStoreError {
  override readonly name = 'LeaseLostError'
  readonly code = 'ERR_LEASE_LOST'
  constructor(leaseMs: number) {
    super(`The effect took longer than its lease of ${leaseMs} ms. Lengthen leaseMs, or shorten the effect.`)
  }
}
