/**
 * What can go wrong in a store, besides the effect. Any of them answered outside 2xx makes the service send again.
 * Source: INTERFACE 6, delivery.
 * @module
 */

/** Base of the errors of this package. */
export abstract class VersionStoreError extends Error {
  abstract readonly code: `ERR_${string}`
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
 * A call waited `busyTimeoutMs` for its turn. Nothing was kept; answer 503 and the service sends again. Its effect did not run, but for one
 * case: a COMMIT of SQLite that finds a lock for so long comes after the effect. What that wrote through `tx` is undone; what it did
 * elsewhere is not.
 */
export class StoreBusyError extends VersionStoreError {
  override readonly name = 'StoreBusyError'
  readonly code = 'ERR_VERSION_STORE_BUSY'
  readonly status = 503
  /**
   * `lock`: another connection held the database or the payment. `effect`: other effects held this connection, or, on a pool and in
   * Redis, the payment; the first may never end.
   */
  readonly waitedFor: 'lock' | 'effect'
  /** @param cause - The driver's error, for a lock. */
  constructor(busyTimeoutMs: number, waitedFor: 'lock' | 'effect', cause?: unknown) {
    super(
      waitedFor === 'lock'
        ? `Another connection held the lock for ${busyTimeoutMs} ms. Shorten its transactions.`
        : `Other effects were before this one for ${busyTimeoutMs} ms. Shorten them, and see that each one ends.`,
      cause === undefined ? undefined : { cause },
    )
    this.waitedFor = waitedFor
  }
}

/** A transaction that the store did not begin is open on its connection. Nothing was kept. */
export class TransactionOpenError extends VersionStoreError {
  override readonly name = 'TransactionOpenError'
  readonly code = 'ERR_TRANSACTION_OPEN'
  constructor() {
    super('A transaction is already open on this connection. End it first, or give the store a connection of its own.')
  }
}

/**
 * The effect ended the store's transaction, even if it began another: what it wrote may be kept. The version is not; but on PostgreSQL,
 * where it is stored before the effect, a COMMIT of the effect keeps it. Remove COMMIT and ROLLBACK from it. When the effect threw, too, its error is the `cause`.
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
 * A statement of the effect failed, the effect went on, and PostgreSQL keeps nothing of such a transaction. Nothing was kept. Let the
 * statement's error come out of the effect, or try it at a savepoint. Inside of a transaction of yours: it had failed before.
 */
export class TransactionFailedError extends VersionStoreError {
  override readonly name = 'TransactionFailedError'
  readonly code = 'ERR_TRANSACTION_FAILED'
  /** @param cause - The driver's error. */
  constructor(cause: unknown) {
    super(
      'A statement of the transaction failed before, so that nothing of it can be kept. Let its error come out of the effect.',
      { cause },
    )
  }
}

/** The table of versions is not there. Nothing was kept. */
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
 * The effect took longer than `leaseMs`, and another delivery may have begun: nothing was written through `tx`, and the version is not
 * taken. What the effect did elsewhere may repeat. Lengthen the lease, or shorten the effect. One case is otherwise: the connection broke
 * with the answer of the last step, the client sent the step again, and a greater version was stored between the two. Then the writes are
 * kept; the next delivery is `stale`, and right.
 */
export class LeaseLostError extends VersionStoreError {
  override readonly name = 'LeaseLostError'
  readonly code = 'ERR_LEASE_LOST'
  constructor(leaseMs: number) {
    super(`The effect took longer than its lease of ${leaseMs} ms. Lengthen leaseMs, or shorten the effect.`)
  }
}
