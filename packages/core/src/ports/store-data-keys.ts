/** Data keys, sealed with the master key. @module */
import type { SealedSecret } from './store-integrations.js'

/** A data key as stored. */
export interface StoredDataKey {
  readonly purpose: string
  readonly key: SealedSecret
}

/** One key for each purpose. */
export interface DataKeyStore {
  /**
   * The stored key of a purpose; without one, `candidate` is stored first. Two calls at once get the same key.
   */
  obtain(purpose: string, candidate: SealedSecret): Promise<SealedSecret>
}

/** Data keys within a transaction. */
export interface DataKeyTransaction {
  /** All data keys, by purpose. */
  list(): Promise<StoredDataKey[]>
  /** Stores a resealed key while the stored one is still `before`. Resolves whether it was. */
  replace(purpose: string, before: SealedSecret, after: SealedSecret): Promise<boolean>
}
