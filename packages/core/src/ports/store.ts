/**
 * The port to a database. The rules are in the core; a store has rows and guarantees atomicity. Both databases pass
 * the tests in `packages/store-sql/test/conformance`.
 * @module
 */

import type { IdentityAccountStore } from './identity-accounts.js'
import type { AccountStore } from './store-accounts.js'
import type { AuditStore } from './store-audit.js'
import type { ChainReads, LeaseStore } from './store-chains.js'
import type { ConsoleReads } from './store-console.js'
import type { DataKeyStore } from './store-data-keys.js'
import type { DeliveryStore } from './store-deliveries.js'
import type { HistoryStore } from './store-history.js'
import type { IdentityStore } from './store-identity.js'
import type { IntegrationSessionStore } from './store-integration-sessions.js'
import type { IntegrationStore } from './store-integrations.js'
import type { LegacyKeyStore } from './store-legacy-keys.js'
import type { MoveStore } from './store-moves.js'
import type { OperatorStore } from './store-operators.js'
import type { PaymentReads } from './store-reads.js'
import type { SchemaReport, StoreSchema } from './store-schema.js'
import type { SealingKeyUse } from './store-sealing-keys.js'
import type { StoreTransaction } from './store-transaction.js'

/**
 * A database.
 *
 * Guarantees: a resolved transaction is durable (on disk, synchronous commit). A rejected transaction wrote nothing,
 * unless the commit itself failed (see the errors). Reads see committed rows only.
 *
 * Errors are `StoreError`s. `ERR_STORE_BUSY`: locked, or no free connection; retry. `ERR_STORE_UNAVAILABLE`: cannot be
 * reached or used; retry. If the connection or the disk failed during the commit, the transaction may be stored whole
 * or not at all, so a retry must be idempotent. An operator must act on `ERR_STORE_FULL`, no space, and on
 * `ERR_STORE_ENGINE`, a database product or version that the store does not know.
 */
export interface Store {
  /**
   * Brings the schema up to date, while processes of this release and of the last one go on. Safe to run from several
   * processes at once: the others wait. An interrupted run is continued by the next one.
   * @throws StoreError `ERR_STORE_SCHEMA` when a development release created the schema, or a newer release removed
   * what this one needs: an operator must act.
   */
  migrate(report?: SchemaReport): Promise<void>
  readonly schema: StoreSchema
  /**
   * Runs `work` in one transaction. `work` may run again when the database reports a conflict, so it must only touch
   * `tx`.
   */
  transaction<T>(
    work: (tx: StoreTransaction) => Promise<T>,
    options?: {
      /**
       * Whether `work` begins with a look-up, and all its statements find rows by their keys. A store may then keep the
       * plans of its statements.
       * @default false
       */
      readonly searches?: boolean
    },
  ): Promise<T>
  /**
   * Rejects a caller that would wait for other transactions of this store, such as those of a queue: inside the work of
   * one it could wait for itself.
   * @throws TypeError Inside the work of a transaction of this store.
   */
  assertNotNested(): void
  readonly payments: PaymentReads
  readonly chains: ChainReads
  readonly leases: LeaseStore
  readonly deliveries: DeliveryStore
  readonly integrations: IntegrationStore
  readonly accounts: AccountStore
  readonly legacyKeys: LegacyKeyStore
  readonly operators: OperatorStore
  readonly integrationSessions: IntegrationSessionStore
  readonly audit: AuditStore
  /** Reads for the console. */
  readonly console: ConsoleReads
  /** Null: its history never ends. */
  readonly history: HistoryStore | null
  /** Null: its integrations do not move. */
  readonly moves: MoveStore | null
  readonly identity: IdentityStore
  /** The store's own accounts, for hosts that bring no users. */
  readonly identityAccounts: IdentityAccountStore
  readonly dataKeys: DataKeyStore
  /**
   * The master keys that stored secrets need: one entry for each place and key. A previous secret past its grace time
   * at `now` (unix milliseconds) and a revoked key need none. It reads small tables alone: text sealed with a data key
   * needs only the master key of that data key.
   */
  sealingKeys(now: number): Promise<SealingKeyUse[]>
  /** Rejects unless the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}
