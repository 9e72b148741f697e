/** What reconciling needs of a version store; every store of `@payment-integration/version-store` has it. Source: docs/interface.md 6 (receiver obligations). @module */

/** Which payment a version belongs to. */
export interface StoredKey {
  readonly integrationAddress: string
  /** Destination chain, decimal string. */
  readonly chainId: string
  /** Destination transaction. */
  readonly txHash: string
}

/**
 * Remembers the newest handled version of each payment.
 * @typeParam Tx - What an effect writes through, so that its writes and the version are kept together or not at all.
 */
export interface ReconcileStore<Tx> {
  /** The stored version, `undefined` when the payment is new. */
  current(key: StoredKey): Promise<number | undefined>
  /** Runs the effect and stores the version if it is greater than the stored one, in one step. `duplicate` and `stale` run nothing. */
  advance(
    payment: StoredKey & { readonly version: number },
    effect: (tx: Tx) => void | Promise<void>,
  ): Promise<'apply' | 'duplicate' | 'stale'>
}

/** A store that can also say what it holds, so that payments can be found that the service does not have. */
export interface ListingStore<Tx> extends ReconcileStore<Tx> {
  /** Every payment of one integration, in any order. One twice does no harm, and keys of other integrations are passed over. */
  list(integrationAddress: string): Iterable<StoredKey> | AsyncIterable<StoredKey> | Promise<Iterable<StoredKey>>
}

/** @typeParam Store - The caller's own type. */
export function isListing<Tx>(store: ReconcileStore<Tx>): store is ListingStore<Tx> {
  return typeof (store as Partial<ListingStore<Tx>>).list === 'function'
}
