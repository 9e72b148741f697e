/** Integrations, their secrets and portal sessions, as stored and as shown. Times are unix milliseconds. @module */
import type { SessionRecord, SessionTokens } from '../operators/operator-store.js'
import type { SealedSecret, SecretHash } from '../secrets/keys.js'

export interface IntegrationRecord {
  /** Integration address, lowercased: the key. */
  readonly address: string
  readonly name: string
  /** Null: no notifications. */
  readonly notificationUrl: string | null
  readonly enabled: boolean
  /** Null: no API secret was issued, so every call is unauthenticated. */
  readonly apiSecret: SecretHash | null
  /** Accepted until `until`, after a rotation. */
  readonly previousApiSecret: (SecretHash & GraceEnd) | null
  /** Signs notifications. */
  readonly signingSecret: SealedSecret
  /** The next signing secret: issued, and unused until it is activated. Null: none is prepared. */
  readonly preparedSigningSecret: SealedSecret | null
  /** The signing secret before the last activation. Until `until` it signs second attempts of rejected posts. */
  readonly previousSigningSecret: (SealedSecret & GraceEnd) | null
  readonly createdAt: number
}

/** The end of a previous secret's grace time, in unix milliseconds. */
export type GraceEnd = { readonly until: number }

/** The hashes to compare with the credentials of a request. */
export interface StoredCredentials {
  /** The integration is enabled and has a current API secret. */
  readonly isUsable: boolean
  readonly current: SecretHash
  readonly previous: SecretHash & GraceEnd
}

export interface IntegrationStore {
  find(address: string): Promise<IntegrationRecord | null>
  /**
   * The credentials of an address. A hash that is not stored is replaced by that of `absent`, with `isUsable` false or
   * `until` 0. The read is one statement that returns one row: timing does not reveal which addresses exist.
   */
  credentials(address: string, absent: Pick<StoredCredentials, 'current' | 'previous'>): Promise<StoredCredentials>
  /** All integrations, by address. */
  list(): Promise<IntegrationRecord[]>
  /** A session of the portal, expired or not, with its integration. */
  findSession(hash: string): Promise<{ session: IntegrationSessionRecord; integration: IntegrationRecord } | null>
}

/** A change of an integration. Absent fields stay. */
export type IntegrationChange = Partial<Omit<IntegrationRecord, 'address' | 'createdAt'>>

/** Integrations inside a transaction, the only place where they change. */
export interface IntegrationTransaction extends Pick<IntegrationStore, 'find' | 'list'> {
  /** Resolves false, writing nothing, when the address is taken. */
  insert(record: IntegrationRecord): Promise<boolean>
  /** Replaces the given fields; a new URL resets its endpoint's health. Resolves the new record, or null: unknown. */
  update(address: string, change: IntegrationChange): Promise<IntegrationRecord | null>
}

/** Blocks that were read before an integration was recorded. */
export interface UnrecordedRange {
  readonly chainId: number
  readonly from: number
  /** Included. */
  readonly to: number
}

/** Plain secrets, returned once when issued. */
export interface IssuedIntegration {
  readonly integration: IntegrationView
  /** Basic authentication password. */
  readonly apiSecret: string
  /** Key of the notification signature. Different from the API secret. */
  readonly signingSecret: string
  /** Blocks whose payments are not recorded, by chain, for a reindex. Empty for a service that records all payments. */
  readonly unrecorded: readonly UnrecordedRange[]
}

/** An integration without its secrets. */
export interface IntegrationView
  extends Pick<IntegrationRecord, 'address' | 'name' | 'notificationUrl' | 'enabled' | 'createdAt'> {
  readonly signingSecretPrepared: boolean
  /** End of the previous signing secret's grace time in unix milliseconds; null: none is valid. */
  readonly previousSigningSecretUntil: number | null
  /** End of the previous API secret's grace time in unix milliseconds; null: none is valid. */
  readonly previousApiSecretUntil: number | null
}

/**
 * Manages integrations. Addresses are accepted in any case. A disabled integration or a new API secret applies to this
 * process at once, and to others on the same database within a quarter of a second. A new signing secret signs the
 * deliveries that are claimed from then on. See docs/decisions/secrets.md.
 */
export interface IntegrationCommands {
  /**
   * @throws IntegrationError `ERR_INTEGRATION_EXISTS`; InvalidParameterError `ERR_ADDRESS_INVALID`, `ERR_URL_INVALID`,
   * `ERR_NAME_INVALID`.
   */
  create(input: {
    readonly address: string
    readonly name?: string | undefined
    readonly notificationUrl?: string | null | undefined
  }): Promise<IssuedIntegration>
  /** @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; InvalidParameterError `ERR_ADDRESS_INVALID`. */
  get(address: string): Promise<IntegrationView>
  list(): Promise<IntegrationView[]>
  /** Disabling ends the integration's sessions at the portal. @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`. */
  setEnabled(address: string, enabled: boolean): Promise<IntegrationView>
  /** @throws IntegrationError, InvalidParameterError. */
  setNotificationUrl(address: string, url: string | null): Promise<IntegrationView>
  /**
   * Issues a new API secret. The previous one stays valid for `graceMs`, by default 0. With `keepsPrevious` the call
   * rejects while the secret of an earlier rotation is still valid; without `keepsPrevious`, that secret ends.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_PREVIOUS_API_SECRET`.
   */
  rotateApiSecret(
    address: string,
    options?: { readonly graceMs?: number | undefined; readonly keepsPrevious?: boolean | undefined },
  ): Promise<{ apiSecret: string }>
  /** Ends the previous API secret. @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_NO_PREVIOUS_SECRET`. */
  endPreviousApiSecret(address: string): Promise<void>
  /**
   * Issues the next signing secret, unused until it is activated: give it to the receiver first. While a secret is
   * prepared, the call returns that secret with `isNew` false, or rejects if `isShownAgain` is false.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_PREPARED`; SealedSecretError
   * `ERR_SECRET_UNREADABLE`.
   */
  prepareSigningSecret(
    address: string,
    options?: { readonly isShownAgain?: boolean | undefined },
  ): Promise<{ readonly signingSecret: string; readonly isNew: boolean }>
  /**
   * Signs with the prepared secret from now on. The previous secret stays for `graceMs`, 24 hours by default; 0 deletes
   * it at once. Within that time a notification that is answered 400, 401 or 403 gets a second attempt at once, signed
   * with the previous secret. A secret from an earlier activation is deleted.
   * @returns The end of the grace time in unix milliseconds, or null.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_NOT_PREPARED`; SealedSecretError
   * `ERR_SECRET_UNREADABLE`; RangeError.
   */
  activateSigningSecret(
    address: string,
    options?: { readonly graceMs?: number | undefined },
  ): Promise<{ readonly previousUntil: number | null }>
  /**
   * Deletes the prepared signing secret.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_NOT_PREPARED`.
   */
  abortSigningSecret(address: string): Promise<void>
  /**
   * Deletes the previous signing secret before its grace time ends.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_NO_PREVIOUS_SECRET`.
   */
  endPreviousSigningSecret(address: string): Promise<void>
  /**
   * Seals every signing secret and every data key with the newest master key, and deletes previous secrets past their
   * grace time. Hashed secrets need their old key until they are rotated or issued again; the result lists them.
   * @throws SealedSecretError `ERR_SECRET_UNREADABLE` when one needs a key that is not configured: nothing is resealed.
   */
  resealSecrets(): Promise<ResealResult>
}

export interface ResealResult {
  /** Number of signing secrets that had another key before. */
  readonly resealed: number
  /** Number of data keys that had another key before, such as the one of e-mail addresses. */
  readonly dataKeys: number
  /** Integrations whose API secret, or the previous one within its grace time, still needs an older master key. */
  readonly olderApiSecrets: readonly string[]
  /** Ids of legacy API keys, not revoked, that still need an older master key. */
  readonly olderLegacyKeys: readonly string[]
}

export interface Caller {
  /** Integration address, lowercased. */
  readonly integrationAddress: string
}

export interface IntegrationSessionRecord extends Omit<SessionRecord, 'operator'>, Caller {
  /** The stored hash of the API secret that opened the session, which ends with that secret. */
  readonly apiSecretHash: string
}

/** A new session of an integration. `sessionToken` is shown this once. */
export interface NewIntegrationSession extends Caller {
  readonly sessionToken: string
  readonly expiresAt: number
}

/** Signs integrations in and out, with their address and API secret. Source: docs/decisions/operators.md. */
export interface IntegrationSessions extends SessionTokens {
  /**
   * Opens a session of 12 hours. It ends earlier when the integration is disabled, when the API secret that opened it
   * ends, or when it is the oldest of 20 and another session is opened. Rejections all look and cost the same.
   * @param input.source - The caller's network address; of IPv6 the first 64 bits. Failures are limited per source, and
   * per address and source.
   * @param input.countCall - Counts the call of an integration with valid credentials, before a session is opened.
   * Returns the milliseconds that it has to wait; 0: none. Default: none is limited.
   * @throws SignInRejectedError `ERR_SIGN_IN_REJECTED`; SignInLimitedError `ERR_SIGN_IN_LIMITED` with the wait.
   */
  signIn(input: {
    readonly address: string
    readonly apiSecret: string
    readonly source: string
    readonly countCall?: ((integrationAddress: string) => number) | undefined
  }): Promise<NewIntegrationSession>
  /** The integration of a session; null: it is unknown, signed out, expired or ended. */
  authenticate(sessionToken: string): Promise<Caller | null>
}
