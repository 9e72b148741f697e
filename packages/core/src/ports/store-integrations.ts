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
  /** Null: no API secret was issued, so no call can authenticate. */
  readonly apiSecret: SecretHash | null
  /** Still accepted until `until` (unix milliseconds) after a rotation. */
  readonly previousApiSecret: (SecretHash & { readonly until: number }) | null
  /** Signs notifications. */
  readonly signingSecret: SealedSecret
  /** The next signing secret: issued, and not used until it is activated. Null: none is prepared. */
  readonly preparedSigningSecret: SealedSecret | null
  /**
   * The signing secret before the last activation. Signs a rejected notification once more, until `until` (unix
   * milliseconds).
   */
  readonly previousSigningSecret: (SealedSecret & { readonly until: number }) | null
  /** Unix milliseconds. */
  readonly createdAt: number
}

/** What the credentials of a request are compared with. */
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
   * The credentials of an address, with the hashes of `absent` in place of those that are not stored, an unknown
   * address included. A missing hash is never in force: it comes with `usable` false or with `until` 0. One statement
   * and one row whatever is stored, so that nobody learns from the time it takes which addresses exist.
   */
  credentials(address: string, absent: Pick<StoredCredentials, 'current' | 'previous'>): Promise<StoredCredentials>
  /** All of them, by address. */
  list(): Promise<IntegrationRecord[]>
  /** Resolves false, writing nothing, when the address is taken. */
  insert(record: IntegrationRecord): Promise<boolean>
  /**
   * Replaces the fields given. With `onlyIf` it does so only while the stored API secret still has that hash (null:
   * none), in one step, so that of two rotations at once one loses. Resolves the record after it, or null when nothing
   * was written. Another notification URL begins the health of its endpoint anew.
   */
  update(
    address: string,
    change: Partial<Omit<IntegrationRecord, 'address' | 'createdAt'>>,
    onlyIf?: { readonly apiSecretHash: string | null },
  ): Promise<IntegrationRecord | null>
}
