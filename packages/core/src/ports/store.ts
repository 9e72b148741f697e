/** The port to a database: a store has rows and atomic transactions, but no rules. @module */
import type { AuditStore, AuditTransaction } from '../history/audit-store.js'
import type { HistoryStore } from '../history/history-store.js'
import type { IdentityAccountTransaction, IdentityStore, IdentityTransaction } from '../identity/identity-store.js'
import type { ChainReads, ChainTransaction, LeaseStore } from '../indexer/chain-store.js'
import type { IntegrationSessionRecord, IntegrationStore, IntegrationTransaction } from '../integrations/integration.js'
import type { MoveStore } from '../integrations/move-store.js'
import type { AccountStore, AccountTransaction, LegacyKeyStore, LegacyKeyTransaction } from '../legacy/legacy-store.js'
import type { DeliveryStore, DeliveryTransaction } from '../notifications/delivery-store.js'
import type { ConsoleReads } from '../operators/console-reads.js'
import type {
  OperatorStore,
  OperatorTransaction,
  SessionRecord,
  SessionTransaction,
} from '../operators/operator-store.js'
import type { PaymentReads, PaymentTransaction } from '../payments/payment-store.js'
import type { DataKeyStore, DataKeyTransaction, SealingKeyUse } from '../secrets/keys.js'

export interface SchemaStep {
  /** The schema version that it leads to. */
  readonly version: number
  /** Its effect in words, for operators. */
  readonly about: string
  /** Estimated number of rows that it reads or changes; null: no rows of large tables. */
  readonly rows: number | null
}

/** A step in progress. */
export interface SchemaProgress extends SchemaStep {
  /** `waiting`: another session holds a lock that it needs. */
  readonly event: 'begun' | 'waiting' | 'progress' | 'done'
  /** Progress of a change of rows, from 0 to 1. */
  readonly share: number
}

export type SchemaReport = (progress: SchemaProgress) => void

export interface StoreSchema {
  /**
   * Checks that this release can work with the schema; a newer schema works too.
   * @throws StoreError `ERR_STORE_SCHEMA` when steps are missing, or a newer release removed what this one needs.
   */
  check(): Promise<void>
  /** The steps that `migrate` would run now, and those that `contract` would run after them. */
  plan(): Promise<{ readonly expand: readonly SchemaStep[]; readonly contract: readonly SchemaStep[] }>
  /**
   * Removes what only older releases need: a process of an older release then fails.
   * @throws StoreError `ERR_STORE_SCHEMA` while `migrate` has steps to run.
   */
  contract(report?: SchemaReport): Promise<void>
}

/**
 * A database.
 * A resolved transaction is durable (on disk, synchronous commit). A rejected one wrote nothing, unless the commit
 * itself failed. Reads see committed rows only.
 * Errors are `StoreError`s. `ERR_STORE_BUSY`: locked, or no free connection; retry. `ERR_STORE_UNAVAILABLE`: cannot be
 * reached or used; retry. If that was during the commit, the transaction may be stored whole or not at all, so a retry
 * must be idempotent. An operator must act on `ERR_STORE_FULL`, no space, and on `ERR_STORE_ENGINE`, an unknown product
 * or version of the database.
 */
export interface Store {
  /**
   * Brings the schema up to date, while processes of this and the previous release go on. Concurrent runs take
   * turns; the next run continues an interrupted one.
   * @throws StoreError `ERR_STORE_SCHEMA` for the schema of a development release or of a much newer one.
   */
  migrate(report?: SchemaReport): Promise<void>
  readonly schema: StoreSchema
  /** Runs `work` in one transaction, and again after a conflict in the database, so `work` must only touch `tx`. */
  transaction<T>(
    work: (tx: StoreTransaction) => Promise<T>,
    /** `searches`: the work begins with a read, and all statements search by index, so query plans may be reused. */
    options?: { readonly searches?: boolean },
  ): Promise<T>
  /** @throws TypeError Inside a transaction of this store, where waiting for another transaction could deadlock. */
  assertNotNested(): void
  readonly payments: PaymentReads
  readonly chains: ChainReads
  readonly leases: LeaseStore
  readonly deliveries: DeliveryStore
  readonly integrations: IntegrationStore
  readonly accounts: AccountStore
  readonly legacyKeys: LegacyKeyStore
  readonly operators: OperatorStore
  readonly audit: AuditStore
  readonly console: ConsoleReads
  /** Null: history is kept for ever. */
  readonly history: HistoryStore | null
  /** Null: integrations cannot move to another cell. */
  readonly moves: MoveStore | null
  readonly identity: IdentityStore
  readonly dataKeys: DataKeyStore
  /**
   * The master keys that stored secrets need: one entry for each place and key. A previous secret past its grace time
   * at `now` (unix milliseconds) and a revoked key need none. Text sealed with a data key counts as that data key.
   */
  sealingKeys(now: number): Promise<SealingKeyUse[]>
  /** Rejects unless the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Operations inside one transaction, undone together when it rejects. An empty list or map changes nothing. */
export interface StoreTransaction extends ChainTransaction, PaymentTransaction, DeliveryTransaction, AuditTransaction {
  /** The given integration addresses that are stored, enabled or not. */
  registeredIntegrations(addresses: readonly string[]): Promise<ReadonlySet<string>>
  readonly integrations: IntegrationTransaction
  readonly accounts: AccountTransaction
  readonly legacyKeys: LegacyKeyTransaction
  readonly operators: OperatorTransaction
  readonly operatorSessions: SessionTransaction<SessionRecord>
  readonly integrationSessions: SessionTransaction<IntegrationSessionRecord>
  readonly dataKeys: DataKeyTransaction
  readonly identity: IdentityTransaction
  /** The store's own accounts, for hosts that bring no users. */
  readonly identityAccounts: IdentityAccountTransaction
}
