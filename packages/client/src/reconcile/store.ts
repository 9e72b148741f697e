/**
 * The port to a version store, as `@payment-integration/version-store` has it. Source: docs/interface.md 6 (receiver
 * obligations).
 * @module
 */

/** The payment of a stored version. */
export interface StoredKey {
  readonly integrationAddress: string
  /** Destination chain, decimal string. */
  readonly chainId: string
  /** Destination transaction. */
  readonly txHash: string
}

/**
 * Remembers the newest handled version of each payment.
 * @typeParam Tx - The transaction in which the effect writes: its writes and the version commit together.
 */
export interface ReconcileStore<Tx> {
  /** The stored version, `undefined` when the payment is new. */
  current(key: StoredKey): Promise<number | undefined>
  /** Atomically runs the effect and stores a greater version. `duplicate` and `stale` run nothing. */
  advance(
    payment: StoredKey & { readonly version: number },
    effect: (tx: Tx) => void | Promise<void>,
  ): Promise<'apply' | 'duplicate' | 'stale'>
}

/** A store that can list its payments, to find those that the service does not have. */
export interface ListingStore<Tx> extends ReconcileStore<Tx> {
  /** Every payment of one integration, in any order. Duplicates and keys of other integrations are ignored. */
  list(integrationAddress: string): Iterable<StoredKey> | AsyncIterable<StoredKey> | Promise<Iterable<StoredKey>>
}

/** @typeParam Store - The caller's own type. */
export function isListing<Tx>(store: ReconcileStore<Tx>): store is ListingStore<Tx> {
  return typeof (store as Partial<ListingStore<Tx>>).list === 'function'
}
