/** Keys that data is stored under, sealed with the master key. @module */
import type { SealedSecret } from './store-integrations.js'

/** A data key as stored. */
export interface StoredDataKey {
  readonly purpose: string
  readonly key: SealedSecret
}

/** One key for each purpose. */
export interface DataKeyStore {
  /**
   * The key of a purpose as it is stored; where there is none, `candidate` is stored first. Of two at once, both get
   * the same.
   */
  obtain(purpose: string, candidate: SealedSecret): Promise<SealedSecret>
}

/** Data keys within a transaction. */
export interface DataKeyTransaction {
  /** All of them, by purpose. */
  list(): Promise<StoredDataKey[]>
  /** Stores a key sealed anew, unless it is no longer `before`. Resolves whether it did. */
  replace(purpose: string, before: SealedSecret, after: SealedSecret): Promise<boolean>
}
