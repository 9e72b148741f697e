/** Integrations and their secrets. No plain secret ever reaches a store. @module */

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

/** An integration as stored. */
export interface IntegrationRecord {
  /** Integration address, lowercased: the key. */
  readonly address: string
  readonly name: string
  /** Null: no notifications. */
  readonly notificationUrl: string | null
  readonly enabled: boolean
  /** Null: no API secret was issued, so every call is unauthenticated. */
  readonly apiSecret: SecretHash | null
  /** Still accepted until `until` (unix milliseconds) after a rotation. */
  readonly previousApiSecret: (SecretHash & { readonly until: number }) | null
  /** Signs notifications. */
  readonly signingSecret: SealedSecret
  /** The next signing secret: issued, and unused until it is activated. Null: none is prepared. */
  readonly preparedSigningSecret: SealedSecret | null
  /**
   * The signing secret before the last activation. It signs a second attempt of a rejected notification, until `until`
   * (unix milliseconds).
   */
  readonly previousSigningSecret: (SealedSecret & { readonly until: number }) | null
  /** Unix milliseconds. */
  readonly createdAt: number
}

/** The hashes to compare with the credentials of a request. */
export interface StoredCredentials {
  /** Enabled, and a current API secret is issued. */
  readonly usable: boolean
  readonly current: SecretHash
  readonly previous: SecretHash & { readonly until: number }
}

/** Integrations by address. */
export interface IntegrationStore {
  find(address: string): Promise<IntegrationRecord | null>
  /**
   * The credentials of an address. A hash that is not stored is replaced by the one of `absent`, also for an unknown
   * address. A replaced hash is never in force: it comes with `usable` false or with `until` 0. It is always one
   * statement and one row, so that the time does not reveal which addresses exist.
   */
  credentials(address: string, absent: Pick<StoredCredentials, 'current' | 'previous'>): Promise<StoredCredentials>
  /** All integrations, by address. */
  list(): Promise<IntegrationRecord[]>
  /** Resolves false, writing nothing, when the address is taken. */
  insert(record: IntegrationRecord): Promise<boolean>
  /**
   * Replaces the given fields. With `onlyIf` it writes only while the stored API secret has that hash (null: none), so
   * that of two rotations at once one fails. Resolves the new record, or null when nothing was written. A new
   * notification URL resets the health of its endpoint.
   */
  update(
    address: string,
    change: Partial<Omit<IntegrationRecord, 'address' | 'createdAt'>>,
    onlyIf?: { readonly apiSecretHash: string | null },
  ): Promise<IntegrationRecord | null>
}
