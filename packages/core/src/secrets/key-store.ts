/**
 * Sealed secrets, hashes and data keys, as stored. No plain secret ever reaches a store.
 * Source: docs/decisions/secrets.md.
 * @module
 */

/** A secret encrypted with a key outside the database. */
export interface SealedSecret {
  /** Version of the key-encryption key. */
  readonly keyVersion: number
  /** Nonce, ciphertext and tag, base64url. */
  readonly sealed: string
}

/** A keyed hash of an API secret. */
export interface SecretHash {
  readonly keyVersion: number
  /** HMAC-SHA256 of the secret, 64 lowercase hex digits. */
  readonly hash: string
}

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

/** Rows of one place that one master key sealed or hashed. */
export interface SealingKeyUse {
  /** Table and secret, such as `integrations.signing_secret`. */
  readonly place: string
  /** Version of the master key. */
  readonly keyVersion: number
  /** How many rows; at least 1. */
  readonly rows: number
}
