/** The types of the service for a host, the reference server and the command line. @module */
import type {
  LinkConfig,
  Lookup,
  ProcessorUpdate,
  UpdateResult,
  Verify,
  VerifyRequest,
} from '@payment-integration/contract'
import type { AuditRecord } from './history/audit-store.js'
import type { HistoryCommands } from './history/history-store.js'
import type { Identity, IdentityActs } from './identity/identity-types.js'
import type { ReindexReport, ReindexRequest } from './indexer/reindex-types.js'
import type { IntegrationCommands } from './integrations/integration.js'
import type { MoveCommands } from './integrations/move-types.js'
import type { IntegrationSessions } from './integrations/session-types.js'
import type { AccountRecord } from './legacy/account-store.js'
import type { LegacyKeyRecord } from './legacy/legacy-key-store.js'
import type { DeliveryCommands, EndpointCommands } from './notifications/delivery-types.js'
import type { DeliveryStreams } from './notifications/stream-types.js'
import type { OperatorCommands, OperatorSessions } from './operators/operator-store.js'
import type { Chain, EndpointStatus, ProofLevel } from './ports/chain.js'
import type { Store } from './ports/store.js'
import type { LeaseCommands, ProcessQueries, RunOptions } from './processes/leases.js'
import type { Queries } from './queries.js'

/** An authenticated caller. */
export interface Caller {
  /** Integration address, lowercased. */
  readonly integrationAddress: string
}

/** An authenticated caller of the legacy API. */
export interface LegacyCaller {
  /** Public name of the API key for operators. */
  readonly keyId: string
}

/** The legacy endpoints of docs/interface.md 4.3, after authentication. */
export interface LegacyQueries {
  /**
   * All payments of a transaction. Parameters are the raw strings of the path.
   * @throws LegacyRequestError `ERR_LEGACY_REQUEST_INVALID`; UnknownTransactionError `ERR_TRANSACTION_NOT_FOUND`.
   */
  lookup(query: { readonly chainId: string; readonly txHash: string }): Promise<Lookup>
  /**
   * All payments of a transaction, each verified against an invoice. `verified` is true when all of them match.
   * Payments off the chain are left out; extra fees above the limit are `Invalid payment amount`. A decimal given as a
   * number counts as its shortest text; `parseVerifyRequest` returns the exact text of the body.
   *
   * @throws LegacyRequestError `ERR_LEGACY_REQUEST_INVALID`; UnknownTransactionError `ERR_TRANSACTION_NOT_FOUND`.
   */
  verify(request: VerifyRequest): Promise<{ readonly verified: boolean; readonly result: Verify }>
}

/** A new account. Addresses and handles are accepted in any case. */
export interface AccountInput {
  readonly handle: string
  readonly address: string
  readonly config: LinkConfig
}

/**
 * Manages accounts and their link configurations. Each change is in the audit log. Source: docs/interface.md 2.4.
 */
export interface AccountCommands {
  /** @throws AccountError `ERR_ACCOUNT_EXISTS`, `ERR_ACCOUNT_INVALID` (names field and flaw). */
  create(input: AccountInput): Promise<AccountRecord>
  list(): Promise<AccountRecord[]>
  /** @throws AccountError `ERR_ACCOUNT_NOT_FOUND`. */
  get(handle: string): Promise<AccountRecord>
  /** Replaces the given fields. @throws AccountError `ERR_ACCOUNT_NOT_FOUND`, `ERR_ACCOUNT_INVALID`. */
  change(handle: string, change: Partial<Omit<AccountInput, 'handle'>>): Promise<AccountRecord>
  /** @throws AccountError `ERR_ACCOUNT_NOT_FOUND`. */
  remove(handle: string): Promise<void>
}

/** A legacy API key without its secret. */
export type LegacyKeyView = Pick<LegacyKeyRecord, 'id' | 'name' | 'createdAt' | 'revokedAt'>

/**
 * Manages the API keys of the legacy endpoints. A change applies to this process at once, and to others on the same
 * database within a quarter of a second: docs/decisions/authentication-cache.md.
 */
export interface LegacyKeyCommands {
  /** Issues a key; `apiKey` is shown this once. @throws BadRequestError `ERR_NAME_INVALID`. */
  create(input?: {
    readonly name?: string | undefined
  }): Promise<{ readonly key: LegacyKeyView; readonly apiKey: string }>
  list(): Promise<LegacyKeyView[]>
  /**
   * Revokes a key: at once here, elsewhere within a quarter of a second.
   * @throws LegacyKeyNotFoundError `ERR_LEGACY_KEY_NOT_FOUND`.
   */
  revoke(id: string): Promise<LegacyKeyView>
}

/** The operator's command on followed chains. */
export interface ChainCommands {
  /**
   * Reads blocks of a followed chain again and yields the result of each range; with `repair` it writes the
   * differences. A repair is recorded in the audit log before it writes anything. The indexer may run meanwhile.
   * @throws RangeError When a height is not whole, or `to` is below `from` or above the checkpoint.
   * @throws ReindexError `ERR_REINDEX_REFUSED` when this process does not follow the chain, nothing of it is indexed,
   * or these blocks cannot replace an orphaned checkpoint; the message says which can.
   * @throws ChainError, StoreError, CheckpointMovedError Repairs reported before it stay.
   */
  reindex(
    request: ReindexRequest & {
      readonly chainId: number
      /** Reads through it, such as another node. @default the followed chain */
      readonly through?: Chain | undefined
    },
    signal?: AbortSignal,
  ): AsyncGenerator<ReindexReport, void, undefined>
}

/** The operator's reads of the audit log. */
export interface AuditQueries {
  /** Records in their order. */
  list(query: { readonly afterSeq?: number | undefined; readonly limit: number }): Promise<AuditRecord[]>
  /** Its newest record, to store outside the database; null: the log is empty. */
  head(): Promise<AuditHead | null>
  /** Checks the chain from its first record to its last. @throws The signal's reason when it aborts. */
  verify(options?: {
    /** Called after each part with the number of checked records. */
    readonly onProgress?: ((records: number) => void) | undefined
    readonly signal?: AbortSignal | undefined
  }): Promise<AuditVerdict>
}

/** Proof, stored outside, that no record up to this one was deleted or rewritten. */
export type AuditHead = Pick<AuditRecord, 'seq' | 'at' | 'hash'>

/** Whether the audit log is intact. */
export interface AuditVerdict {
  /** Number of checked records. */
  readonly records: number
  /** The newest record, or null. Number and hash, stored outside, also reveal deleted records at the end. */
  readonly last: AuditHead | null
  /** The first `seq` that is missing, altered, or keyed with an unconfigured master key; null: the log is intact. */
  readonly brokenAt: number | null
}

/** A loop until its signal aborts. Errors do not stop it; it reports them as events. */
export interface Loop {
  run(signal: AbortSignal): Promise<void>
}

/** A reorganisation that a process followed. */
export interface Reorganisation {
  /** When it was followed, in unix milliseconds. */
  readonly at: number
  /** Highest indexed block before it. */
  readonly from: number
  /** Highest block that stayed: the blocks above it, up to `from`, were orphaned. */
  readonly commonAncestor: number
}

/** The health of a chain. */
export interface ChainStatus {
  readonly chainId: number
  /** Newest known height, or null before the first answer. */
  readonly head: number | null
  /**
   * Header time of that block, in unix milliseconds: it grows old when the nodes stall. Null before the first answer.
   */
  readonly headAt: number | null
  /** Highest indexed height, or null. */
  readonly indexed: number | null
  /** How the newest blocks were proven, or null before the first commit of this process. */
  readonly proof: ProofLevel | null
  /** Since the start of this process. */
  readonly reorganisations: number
  /** The newest 20 of them, newest first. */
  readonly newestReorganisations: readonly Reorganisation[]
  /** Whether this process is the one that indexes the chain. */
  readonly leading: boolean
  readonly endpoints: readonly EndpointStatus[]
  /** The last error, or null when the last round went well. */
  readonly error: string | null
  /** The newest error of this process with its time in unix milliseconds, also after recovery; null: none. */
  readonly lastError: { readonly message: string; readonly at: number } | null
}

/** Follows one chain. */
export interface Indexer extends Loop {
  readonly chainId: number
  /** One round: reads the head and commits new blocks. Resolves true when it reached the head. */
  step(signal?: AbortSignal): Promise<boolean>
  status(): ChainStatus
  /** The chain's own notation of a transaction hash; null: it is the hash itself. */
  nativeHash(txHash: string): string | null
}

/** Sends the deliveries of the outbox. */
export interface Dispatcher extends Loop {
  /** Claims and attempts due deliveries once. Resolves the number of attempts. */
  runOnce(signal?: AbortSignal): Promise<number>
  /** Wakes a running loop: deliveries may be due. */
  wake(): void
}

/** Polls the receipt source for payments without a final state. */
export interface ReceiptPoller extends Loop {
  /** One round over all such payments. Resolves the number of updates applied. */
  runOnce(signal?: AbortSignal): Promise<number>
}

/** Polls the fulfilment source for waiting deposits. */
export interface FulfilmentPoller extends Loop {
  /** One round over all of them. Resolves the number of recorded payments. */
  runOnce(signal?: AbortSignal): Promise<number>
}

/** An update that waits for the host's commit. */
export interface JoinedUpdate {
  readonly result: UpdateResult
  /**
   * Call it once the host has committed: it publishes the events and wakes the dispatcher. Without it the delivery
   * waits for the dispatcher's next poll of the outbox.
   */
  committed(): void
}

/** The commands that the audit log records, in the name of one actor. */
export interface ActorCommands {
  readonly integrations: IntegrationCommands
  readonly legacyKeys: LegacyKeyCommands
  readonly deliveries: DeliveryCommands
  readonly chains: ChainCommands
  readonly operators: OperatorCommands
  readonly accounts: AccountCommands
  /** Null when no identity provider was given. */
  readonly identity: IdentityActs | null
  readonly endpoints: EndpointCommands
  readonly history: HistoryCommands
  readonly moves: MoveCommands
  readonly leases: LeaseCommands
  /** Adds the record of an act that changes nothing stored. */
  recordAct(act: RecordedAct): Promise<void>
}

/** An act outside the database, for the audit log: without any secret and any e-mail address. */
export interface RecordedAct extends Pick<AuditRecord, 'subject'>, Partial<Pick<AuditRecord, 'details'>> {
  readonly action: Extract<AuditRecord['action'], 'integration.receiver_probed' | 'identity.searched' | 'job.stopped'>
}

/** The whole service, in a host or in the reference server. Its own commands act as its option `actor`. */
export interface Service extends ActorCommands {
  readonly store: Store
  /**
   * Resolves the caller, or null for any failure. `authorization` is the header's value. Source: docs/interface.md 5.
   */
  authenticate(authorization: string | null | undefined): Promise<Caller | null>
  /** Reads for pages and APIs. */
  readonly queries: Queries
  /**
   * Resolves the caller of a legacy API key, bare or as `Bearer <key>`; null for any failure.
   * Source: docs/interface.md 5, docs/decisions/authentication-cache.md.
   */
  authenticateLegacy(authorization: string | null | undefined): Promise<LegacyCaller | null>
  readonly legacy: LegacyQueries
  /**
   * Applies a processor's update; idempotent by its id.
   * @throws UpdateConflictError `ERR_UPDATE_CONFLICT`.
   * @throws TypeError Inside the work of a transaction of the store, or when it does not have the contract's shape.
   */
  applyUpdate(update: ProcessorUpdate): Promise<UpdateResult>
  /**
   * Applies updates in their order, 100 of them in one transaction. Resolves the outcome of each: rejected with an
   * `UpdateConflictError` when its id was used with other content.
   * @throws TypeError When one does not have the contract's shape, before anything is read or written; inside the work
   * of a transaction of the store.
   * @throws StoreError As the store does. Earlier updates may be applied; to repeat all of them is safe.
   */
  applyUpdates(updates: readonly ProcessorUpdate[]): Promise<readonly PromiseSettledResult<UpdateResult>[]>
  /**
   * Applies an update inside a transaction of the host, such as one from `joinPostgresTransaction` of store-sql. The
   * update, version, snapshot and delivery are committed or rolled back together with the host's own rows.
   * @throws UpdateConflictError `ERR_UPDATE_CONFLICT`.
   */
  applyUpdateIn(within: Pick<Store, 'transaction'>, update: ProcessorUpdate): Promise<JoinedUpdate>
  /**
   * The same commands in the name of another actor, such as `operatorActor(name)` of `core/operators`.
   * @throws RangeError When the actor is blank or longer than 200 characters.
   */
  actingAs(actor: string): ActorCommands
  readonly operatorSessions: OperatorSessions
  /** Sessions of integrations at the portal. Source: docs/decisions/portal.md. */
  readonly integrationSessions: IntegrationSessions
  /** Streams of deliveries for receivers without a public address. Source: docs/decisions/listen.md. */
  readonly deliveryStreams: DeliveryStreams
  readonly audit: AuditQueries
  readonly indexers: readonly Indexer[]
  readonly dispatcher: Dispatcher
  /** Null when no receipt source was given. */
  readonly receipts: ReceiptPoller | null
  /** Null when no fulfilment source was given. */
  readonly fulfilments: FulfilmentPoller | null
  /** Null when no identity provider was given. */
  readonly identity: Identity | null
  /** The processes that report themselves. */
  readonly processes: ProcessQueries
  /**
   * Runs loops until the signal aborts, then drains them. Several processes may share the work: any number of them
   * dispatch and poll; of the indexers of a chain one leads.
   */
  run(signal: AbortSignal, options?: RunOptions): Promise<void>
}
