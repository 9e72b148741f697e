/**
 * What the core needs from a database. The rules live in the core; a store keeps rows and promises atomicity.
 * Every adapter passes the suite at `@payment-integration/core/conformance`.
 * @module
 */

import type { IdentityAccountStore } from './identity-accounts.js'
import type { AccountStore } from './store-accounts.js'
import type { AuditStore } from './store-audit.js'
import type { ChainReads, LeaseStore } from './store-chains.js'
import type { DataKeyStore } from './store-data-keys.js'
import type { DeliveryStore } from './store-deliveries.js'
import type { IntegrationStore } from './store-integrations.js'
import type { LegacyKeyStore } from './store-legacy-keys.js'
import type { PaymentReads } from './store-reads.js'
import type { StoreTransaction } from './store-transaction.js'
import type { VerificationStore } from './store-verifications.js'

/**
 * A database.
 *
 * Guarantees: what `transaction` resolved is durable (on disk, synchronous commit); a rejected transaction left nothing,
 * unless the commit itself was cut off (see the errors); reads see committed rows only. Errors: {@link StoreError}
 * `ERR_STORE_BUSY` (locked or no connection free: retry), `ERR_STORE_FULL` (no space: an operator must act),
 * `ERR_STORE_UNAVAILABLE` (cannot be reached or used: retry). After `ERR_STORE_UNAVAILABLE` from a connection or disk that failed
 * during the commit, all of the transaction may have been kept, or nothing: work that is run again must bear that.
 */
export interface Store {
  /** Brings the schema up to date. Safe to run from several processes at once. */
  migrate(): Promise<void>
  /** Runs `work` in one transaction. `work` may run again when the database reports a conflict, so it must only touch `tx`. */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>
  readonly payments: PaymentReads
  readonly chains: ChainReads
  readonly leases: LeaseStore
  readonly deliveries: DeliveryStore
  readonly integrations: IntegrationStore
  readonly accounts: AccountStore
  readonly legacyKeys: LegacyKeyStore
  readonly audit: AuditStore
  readonly verifications: VerificationStore
  /** Accounts for hosts that bring no users of their own. */
  readonly identityAccounts: IdentityAccountStore
  readonly dataKeys: DataKeyStore
  /** Rejects unless the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}
