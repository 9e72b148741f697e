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

/** A call waited `busyTimeoutMs` for its turn. Nothing was kept, its effect did not run; answer 503 and the service sends again. */
export class StoreBusyError extends VersionStoreError {
  override readonly name = 'StoreBusyError'
  readonly code = 'ERR_VERSION_STORE_BUSY'
  readonly status = 503
  /** `lock`: another connection held the database. `effect`: other effects held this connection; the first may never end. */
  readonly waitedFor: 'lock' | 'effect'
  /** @param cause - The driver's error, for a lock. */
  constructor(busyTimeoutMs: number, waitedFor: 'lock' | 'effect', cause?: unknown) {
    super(
      waitedFor === 'lock'
        ? `The database was locked by another connection for ${busyTimeoutMs} ms. Shorten its transactions.`
        : `Other effects held this connection for ${busyTimeoutMs} ms. Shorten them, and see that each one ends.`,
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
 * The effect ended the store's transaction, even if it began another: what it wrote may be kept, the version is not. Remove COMMIT and
 * ROLLBACK from it. When the effect threw, too, its error is the `cause`.
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
