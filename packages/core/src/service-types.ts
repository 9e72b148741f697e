/** What a host app, the reference server and the command line get from the core. @module */
import type {
  LinkConfig,
  Lookup,
  PageBody,
  PaymentBody,
  ProcessorUpdate,
  UpdateResult,
  Verify,
  VerifyRequest,
} from '@payment-integration/contract'
import type { Identity } from './identity-types.js'
import type { EndpointStatus, ProofLevel } from './ports/chain.js'
import type { Store } from './ports/store.js'
import type { AccountRecord } from './ports/store-accounts.js'
import type { AuditRecord } from './ports/store-audit.js'
import type { DeliveryFilter, DeliveryView, EndpointView } from './ports/store-deliveries.js'
import type { IntegrationRecord } from './ports/store-integrations.js'
import type { LegacyKeyRecord } from './ports/store-legacy-keys.js'

/** An authenticated caller. */
export interface Caller {
  /** Integration address, lowercased. */
  readonly integrationAddress: string
}

/** Who calls the legacy API. */
export interface LegacyCaller {
  /** Names the API key to operators; not secret. */
  readonly keyId: string
}

/** The read API of docs/interface.md 4.1, after authentication. Parameters are the raw strings of the request. */
export interface PaymentQueries {
  /**
   * A page, newest first.
   * @throws BadRequestError `ERR_LIMIT_INVALID`, `ERR_CURSOR_INVALID`, `ERR_ADDRESS_INVALID`.
   */
  list(
    caller: Caller,
    query: {
      readonly limit?: string | undefined
      readonly cursor?: string | undefined
      readonly wallet?: string | undefined
    },
  ): Promise<PageBody>
  /**
   * One payment by destination transaction hash.
   * @throws BadRequestError `ERR_TX_HASH_INVALID`, `ERR_ADDRESS_INVALID`; PaymentNotFoundError `ERR_PAYMENT_NOT_FOUND`;
   * SeveralPaymentsError `ERR_PAYMENT_AMBIGUOUS`.
   */
  get(caller: Caller, query: { readonly txHash: string; readonly wallet?: string | undefined }): Promise<PaymentBody>
}

/** The legacy endpoints of docs/interface.md 4.3, after authentication. */
export interface LegacyQueries {
  /**
   * All payments of a transaction. Parameters are the raw strings of the path.
   * @throws LegacyRequestError `ERR_LEGACY_REQUEST_INVALID`; UnknownTransactionError `ERR_TRANSACTION_NOT_FOUND`.
   */
  lookup(query: { readonly chainId: string; readonly txHash: string }): Promise<Lookup>
  /**
   * All payments of a transaction, each judged against an invoice. `verified` is true when every one of them matches.
   * Payments whose block left the chain are not judged; third-party fees above the limit are `Invalid payment amount`.
   * A decimal given as a number counts as the shortest text that reads back as it; `parseVerifyRequest` keeps what was
   * sent.
   *
   * @throws LegacyRequestError `ERR_LEGACY_REQUEST_INVALID`; UnknownTransactionError `ERR_TRANSACTION_NOT_FOUND`.
   */
  verify(request: VerifyRequest): Promise<{ readonly verified: boolean; readonly result: Verify }>
}

/** What an account is made from. Addresses and handles are accepted in any case. */
export interface AccountInput {
  readonly handle: string
  readonly address: string
  readonly config: LinkConfig
}

/** Managing accounts and their link configurations. Source: docs/interface.md 2.4. */
export interface AccountCommands {
  /** @throws AccountError `ERR_ACCOUNT_EXISTS`, `ERR_ACCOUNT_INVALID` (says which field and why). */
  create(input: AccountInput): Promise<AccountRecord>
  list(): Promise<AccountRecord[]>
  /** @throws AccountError `ERR_ACCOUNT_NOT_FOUND`. */
  get(handle: string): Promise<AccountRecord>
  /** Replaces the fields given. @throws AccountError `ERR_ACCOUNT_NOT_FOUND`, `ERR_ACCOUNT_INVALID`. */
  change(handle: string, change: Partial<Omit<AccountInput, 'handle'>>): Promise<AccountRecord>
  /** @throws AccountError `ERR_ACCOUNT_NOT_FOUND`. */
  remove(handle: string): Promise<void>
}

/** A legacy API key without its secret. */
export type LegacyKeyView = Pick<LegacyKeyRecord, 'id' | 'name' | 'createdAt' | 'revokedAt'>

/**
 * Managing the API keys of the legacy endpoints. Another process on the same database sees a change a quarter of a
 * second later at the latest, this one at once: docs/decisions/authentication-cache.md.
 */
export interface LegacyKeyCommands {
  /** Issues a key; `apiKey` is shown this once. */
  create(input?: {
    readonly name?: string | undefined
  }): Promise<{ readonly key: LegacyKeyView; readonly apiKey: string }>
  list(): Promise<LegacyKeyView[]>
  /**
   * Ends a key: at once here, elsewhere within a quarter of a second.
   * @throws LegacyKeyNotFoundError `ERR_LEGACY_KEY_NOT_FOUND`.
   */
  revoke(id: string): Promise<LegacyKeyView>
}

/** Secrets as they are shown once, when issued. */
export interface IssuedIntegration {
  readonly integration: IntegrationView
  /** Basic authentication password. */
  readonly apiSecret: string
  /** Key of the notification signature. Different from the API secret. */
  readonly signingSecret: string
}

/** An integration without its secrets. */
export interface IntegrationView
  extends Pick<IntegrationRecord, 'address' | 'name' | 'notificationUrl' | 'enabled' | 'createdAt'> {
  /** Whether the next signing secret is prepared, and not yet activated. */
  readonly signingSecretPrepared: boolean
  /**
   * Until when a rejected notification is sent once more with the previous signing secret, in unix milliseconds; null:
   * it is not.
   */
  readonly previousSigningSecretUntil: number | null
}

/**
 * Managing integrations. Addresses are accepted in any case. Another process on the same database sees a disabled
 * integration or a new API secret a quarter of a second later at the latest, this one at once:
 * docs/decisions/authentication-cache.md.
 */
export interface IntegrationCommands {
  /** @throws IntegrationError `ERR_INTEGRATION_EXISTS`; BadRequestError `ERR_ADDRESS_INVALID`, `ERR_URL_INVALID`. */
  create(input: {
    readonly address: string
    readonly name?: string | undefined
    readonly notificationUrl?: string | null | undefined
  }): Promise<IssuedIntegration>
  list(): Promise<IntegrationView[]>
  /**
   * Lets an integration in, or shuts it out: at once here, elsewhere within a quarter of a second.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
   */
  setEnabled(address: string, enabled: boolean): Promise<IntegrationView>
  /** @throws IntegrationError, BadRequestError. */
  setNotificationUrl(address: string, url: string | null): Promise<IntegrationView>
  /**
   * Issues a new API secret; the previous one stays valid for `graceMs` (0: it ends at once here,
   * elsewhere within a quarter of a second).
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; `ERR_INTEGRATION_CHANGED` when another rotation was faster.
   */
  rotateApiSecret(address: string, options?: { readonly graceMs?: number | undefined }): Promise<{ apiSecret: string }>
  /**
   * Issues the next signing secret, which is not used until it is activated: give it to the receiver first. While one
   * is prepared it returns that one again, with `isNew` false.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; SealedSecretError `ERR_SECRET_UNREADABLE` when the prepared
   * one cannot be opened.
   */
  prepareSigningSecret(address: string): Promise<{ readonly signingSecret: string; readonly isNew: boolean }>
  /**
   * Signs with the prepared secret from now on. The one before is kept for `graceMs`, 24 hours by default: until then a
   * notification that is answered 400, 401 or 403 is sent once more at once, signed with it. With 0 it is dropped at
   * once. One that is still kept from an earlier activation is dropped in either case. Other processes use the new
   * secret for what they claim from then on.
   * @returns The end of the grace time in unix milliseconds, or null.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_NOT_PREPARED`; SealedSecretError
   * `ERR_SECRET_UNREADABLE` when the prepared one cannot be opened; RangeError.
   */
  activateSigningSecret(
    address: string,
    options?: { readonly graceMs?: number | undefined },
  ): Promise<{ readonly previousUntil: number | null }>
  /**
   * Drops the prepared signing secret.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_NOT_PREPARED`.
   */
  abortSigningSecret(address: string): Promise<void>
  /**
   * Seals every signing secret and every data key with the newest master key, prepared and previous signing secrets
   * too, and drops previous ones whose grace time is over. Secrets that are kept as hashes cannot follow: they need
   * their key until they are rotated or issued anew, and the answer names them.
   * @throws SealedSecretError `ERR_SECRET_UNREADABLE` when one needs a key that is not listed; nothing is resealed
   * then.
   */
  resealSecrets(): Promise<Resealed>
}

/** What sealing with the newest master key came to. */
export interface Resealed {
  /** Signing secrets that were sealed with another key before. */
  readonly resealed: number
  /** Data keys that were sealed with another key before, such as the one of e-mail addresses. */
  readonly dataKeys: number
  /**
   * Addresses of integrations whose API secret, or the previous one within its grace time, still needs an older master
   * key.
   */
  readonly olderApiSecrets: readonly string[]
  /** Ids of legacy API keys, not revoked, that still need an older master key. */
  readonly olderLegacyKeys: readonly string[]
}

/** Deliveries as an operator works with them. */
export interface DeliveryCommands {
  /** Deliveries that fit, oldest first. @throws BadRequestError `ERR_ADDRESS_INVALID`, `ERR_TX_HASH_INVALID`. */
  list(
    query: DeliveryFilter & { readonly afterId?: string | undefined; readonly limit: number },
  ): Promise<DeliveryView[]>
  /** How many fit. */
  count(filter: DeliveryFilter): Promise<number>
  /** @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`. */
  find(deliveryId: string): Promise<DeliveryView>
  /**
   * Makes one delivery due now, whatever its status; it is signed with the secret of the moment, and marked in the
   * attempt log.
   *
   * @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`; `ERR_DELIVERY_UNDER_WAY` while a dispatcher holds it.
   */
  replay(deliveryId: string): Promise<DeliveryView>
  /**
   * Makes every delivery due that fits and is there now, in parts, each committed with its record in the audit log: all
   * of them, or those until `signal` aborts.
   *
   * @throws RangeError For a filter without a status: replaying what was delivered must be said.
   */
  replayAll(
    filter: DeliveryFilter,
    options?: {
      /** Called after each part with the numbers so far. */
      readonly onProgress?: ((done: ReplayTotals) => void) | undefined
      readonly signal?: AbortSignal | undefined
    },
  ): Promise<ReplayTotals>
  /** Endpoints with failures in a row. */
  endpoints(): Promise<EndpointView[]>
}

/** How far a replay has come. */
export interface ReplayTotals {
  readonly replayed: number
  /** Left alone, because a dispatcher held them: their attempt was under way. */
  readonly underWay: number
}

/** The audit log as an operator reads it. */
export interface AuditQueries {
  /** Records in their order. */
  list(query: { readonly afterSeq?: number | undefined; readonly limit: number }): Promise<AuditRecord[]>
  /** Its newest record, to be kept outside the database; null: the log is empty. */
  head(): Promise<AuditHead | null>
  /** Checks the chain from its first record to its last. */
  verify(): Promise<AuditVerdict>
}

/** What shows later that the log was not cut off or written anew before this record. */
export type AuditHead = Pick<AuditRecord, 'seq' | 'at' | 'hash'>

/** Whether the audit log is as it was written. */
export interface AuditVerdict {
  /** Records that were checked. */
  readonly records: number
  /** The newest one, or null: keep its number and hash elsewhere, and an end that was cut off shows too. */
  readonly last: AuditHead | null
  /** The first `seq` that is missing, altered, or keyed with a master key that is not here; null: all is as written. */
  readonly brokenAt: number | null
}

/** A loop that works until its signal aborts; it survives errors of the world and reports them as events. */
export interface Loop {
  run(signal: AbortSignal): Promise<void>
}

/** How a chain is doing. */
export interface ChainStatus {
  readonly chainId: number
  /** Newest height seen, or null before the first answer. */
  readonly head: number | null
  /**
   * Time of that block by its header, in unix milliseconds: it ages when the nodes stand still. Null before the first
   * answer.
   */
  readonly headAt: number | null
  /** Highest height whose payments are committed, or null. */
  readonly indexed: number | null
  /** How the newest blocks were proven, or null before the first commit of this process. */
  readonly proof: ProofLevel | null
  /** Since the start of this process. */
  readonly reorganisations: number
  /** Whether this process is the one that indexes the chain. */
  readonly leading: boolean
  readonly endpoints: readonly EndpointStatus[]
  /** The last error, or null when the last round went well. */
  readonly error: string | null
  /** The newest error of this process with its time in unix milliseconds, also when it is over; null: none. */
  readonly lastError: { readonly message: string; readonly at: number } | null
}

/** Follows one chain. */
export interface Indexer extends Loop {
  readonly chainId: number
  /** One round: reads the head and commits what is new. Resolves true when it reached the head. */
  step(signal?: AbortSignal): Promise<boolean>
  status(): ChainStatus
}

/** Sends what the outbox holds. */
export interface Dispatcher extends Loop {
  /** Claims and attempts what is due now, once. Resolves the number of attempts. */
  runOnce(signal?: AbortSignal): Promise<number>
  /** Tells a running loop that something may be due. */
  wake(): void
}

/** Asks the receipt source about payments without a final answer. */
export interface ReceiptPoller extends Loop {
  /** One round over all such payments. Resolves the number of updates applied. */
  runOnce(signal?: AbortSignal): Promise<number>
}

/** Asks the fulfilment source about deposits that wait. */
export interface FulfilmentPoller extends Loop {
  /** One round over all of them. Resolves the number of payments recorded. */
  runOnce(signal?: AbortSignal): Promise<number>
}

/** An update that waits for the host's commit. */
export interface JoinedUpdate {
  readonly result: UpdateResult
  /**
   * Call it once the host has committed: it tells the event sink and wakes the dispatcher. Without it the delivery
   * waits for the next look.
   */
  committed(): void
}

/** The whole service, embedded in a host app or wired by the reference server. */
export interface Service {
  readonly store: Store
  /**
   * Resolves the caller, or null for every failure alike. `authorization` is the header's value. Source:
   * docs/interface.md 5.
   */
  authenticate(authorization: string | null | undefined): Promise<Caller | null>
  readonly payments: PaymentQueries
  /**
   * Resolves whose legacy API key the header's value is, bare or as `Bearer <key>`; null for every failure alike.
   * Source: docs/interface.md 5, docs/decisions/authentication-cache.md.
   */
  authenticateLegacy(authorization: string | null | undefined): Promise<LegacyCaller | null>
  readonly legacy: LegacyQueries
  readonly accounts: AccountCommands
  readonly legacyKeys: LegacyKeyCommands
  /** Applies a processor's update; idempotent by its id. @throws UpdateConflictError `ERR_UPDATE_CONFLICT`. */
  applyUpdate(update: ProcessorUpdate): Promise<UpdateResult>
  /**
   * The same inside a transaction of the host, such as `joinPostgresTransaction` of store-sql makes: the update, the
   * new version, its snapshot and its delivery are kept or lost together with the host's own rows.
   * @throws UpdateConflictError `ERR_UPDATE_CONFLICT`.
   */
  applyUpdateIn(within: Pick<Store, 'transaction'>, update: ProcessorUpdate): Promise<JoinedUpdate>
  readonly integrations: IntegrationCommands
  readonly deliveries: DeliveryCommands
  readonly audit: AuditQueries
  readonly indexers: readonly Indexer[]
  readonly dispatcher: Dispatcher
  /** Null when no receipt source was given. */
  readonly receipts: ReceiptPoller | null
  /** Null when no fulfilment source was given. */
  readonly fulfilments: FulfilmentPoller | null
  /** Null when no identity provider was given. */
  readonly identity: Identity | null
  /** Runs every loop until the signal aborts and all have stopped cleanly. */
  run(signal: AbortSignal): Promise<void>
}
