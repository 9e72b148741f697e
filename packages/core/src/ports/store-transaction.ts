/** The operations inside one transaction. @module */

import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { AuditRecord } from '../history/audit-store.js'
import type { IdentityTransaction } from '../identity/identity-store.js'
import type { ProvenRange, RouterCoverage } from '../indexer/chain-store.js'
import type { IntegrationStore, SealedSecret } from '../integrations/integration.js'
import type { IntegrationSessionTransaction } from '../integrations/session-types.js'
import type { AccountTransaction } from '../legacy/account-store.js'
import type { LegacyKeyStore } from '../legacy/legacy-key-store.js'
import type { Replayed, ReplayRequest } from '../notifications/delivery-store.js'
import type { OperatorTransaction } from '../operators/operator-store.js'
import type { PaymentFacts, PaymentStatus, StoredPayment } from '../payments/payment.js'
import type { BridgeDeposit } from './fulfilment.js'
import type { IdentityAccountTransaction } from './identity-accounts.js'

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

/** How far a chain is indexed. */
export interface Checkpoint {
  readonly blockNumber: number
  readonly blockHash: string
}

/** Facts to store, with the decision whether area (a) shows this payment. */
export interface NewPayment {
  readonly facts: PaymentFacts
  readonly primary: boolean
}

/** Snapshot bytes, stored once and sent unchanged. */
export interface NewSnapshot {
  readonly paymentId: string
  readonly version: number
  /** UTF-8 JSON, exactly as it will be sent. */
  readonly body: Uint8Array
  /** The payment's integration, which is notified; null when the payment names none. */
  readonly integrationAddress: string | null
  /** The payment's chain and transaction. A store may leave them and the integration out of the stored body. */
  readonly chainId: number
  readonly txHash: string
}

/** Identifies the transaction of an update. */
export interface PaymentSelector {
  readonly chainId: number
  readonly txHash: string
}

/** The record of a processor's update: a repetition of the update is answered from it. */
export interface StoredUpdate {
  readonly id: string
  /** The first 16 bytes of a SHA-256 of its content, as `0x` text: the same content has the same. */
  readonly fingerprint: string
  readonly outcome: UpdateOutcome
  /** Why it was refused, or null. */
  readonly reason: string | null
  /** The payment's version after it, or null while it waits. */
  readonly version: number | null
}

/** A processor's update to store, with its outcome. */
export interface NewUpdate extends Omit<StoredUpdate, 'id'> {
  readonly update: ProcessorUpdate
  /** The payment that it was decided on, or null while it waits. */
  readonly paymentId: string | null
}

/** The outcome of an update that waited. */
export interface SettledUpdate extends Omit<StoredUpdate, 'fingerprint'> {
  readonly paymentId: string
}

/** The result of an upsert. */
export interface UpsertedPayments {
  /** Payments that were not stored before, with version 1 and no state. */
  readonly inserted: readonly StoredPayment[]
  /**
   * Dropped payments that are on the chain again, locked, still marked as dropped: the caller restores their state.
   */
  readonly returned: readonly StoredPayment[]
}

/** Operations inside one transaction. All of them are undone together when the transaction rejects. */
export interface StoreTransaction {
  /**
   * Locks the chain for writing its blocks until the transaction ends. A second indexer of the chain waits, and so does
   * {@link shareChain}. Resolves the stored checkpoint, or null when nothing is indexed.
   */
  lockChain(chainId: number): Promise<Checkpoint | null>
  /** Waits for the {@link lockChain} of another transaction, and blocks new ones until this transaction ends. */
  shareChain(chainId: number): Promise<void>
  /**
   * Moves the checkpoint, up or down. Call after {@link lockChain}. Its hash and those of `below` are stored for
   * {@link checkpoints}. Every height above it is deleted, with its proofs. More than 2,000 heights below it, a store
   * may thin out the hashes: it must keep one of each 2,000 stored, down to 1,000,000 heights below.
   *
   * @param below - Blocks under it, ascending, that a reorganisation may lead back to.
   */
  setCheckpoint(chainId: number, checkpoint: Checkpoint, below?: readonly Checkpoint[]): Promise<void>
  /**
   * Marks the payments of a chain in blocks above a height as off the chain, and deletes the waiting deposits there.
   * {@link upsertPayments} removes the mark. A marked payment that a deposit on another chain fulfilled makes that
   * deposit wait again.
   */
  leaveChain(chainId: number, above: number): Promise<void>
  /** Marks payments as off the chain. */
  leavePayments(paymentIds: readonly string[]): Promise<void>
  /**
   * The height for finality: the checkpoint's, or the one of {@link setReached} while that is higher; null when nothing
   * is indexed.
   */
  reached(chainId: number): Promise<number | null>
  /**
   * Stores the height before the checkpoint moved down, so that final payments stay final while blocks are read again.
   * It is deleted when the checkpoint is as high, or moves down again.
   */
  setReached(chainId: number, height: number): Promise<void>
  /** The chains with a stored checkpoint, in any order. */
  indexedChains(): Promise<number[]>
  /** Checkpoints stored at or below a height, newest first, at most `limit`. */
  checkpoints(chainId: number, atOrBelow: number, limit: number): Promise<Checkpoint[]>

  /**
   * Inserts payments, or updates the chain's facts of those stored under the same (chainId, txHash, ordinal). The facts
   * exclude `integrationAddress`, which is in their snapshots. `primary` and the status stay too, so no new version is
   * due. All of them are on the chain afterwards. Call after {@link lockChain} where some may be stored: their former
   * blocks must not change meanwhile.
   */
  upsertPayments(payments: readonly NewPayment[]): Promise<UpsertedPayments>
  /** Payments of a chain in blocks `from` to `to`, both included, on the chain or off it, by block and log index. */
  paymentsInBlocks(chainId: number, from: number, to: number): Promise<StoredPayment[]>
  /**
   * Payments off the chain, not dropped yet, whose block was at or below a height: at most `limit`, locked.
   *
   * @param awaitedAtOrBelow - The height for payments whose deposit on another chain waits: its fulfilment may be in
   * another block.
   *   @default `atOrBelow`
   */
  overduePayments(
    chainId: number,
    atOrBelow: number,
    limit: number,
    awaitedAtOrBelow?: number,
  ): Promise<StoredPayment[]>
  /** Payments of a chain that are off the chain and not dropped, in any order. */
  offChainPayments(chainId: number): Promise<Pick<PaymentFacts, 'txHash' | 'integrationAddress'>[]>
  /** Marks a payment as dropped, with the state to restore should it return; null: removes the mark. */
  setDropped(paymentId: string, dropped: StoredPayment['dropped']): Promise<void>
  /** The primary payments of any of these transactions, locked until the transaction ends, by ordinal. */
  paymentsForChange(...selectors: readonly PaymentSelector[]): Promise<StoredPayment[]>
  /** Writes new statuses by payment id. {@link paymentsForChange} or {@link upsertPayments} locked the payments. */
  setStatuses(statuses: ReadonlyMap<string, PaymentStatus>): Promise<void>

  /**
   * Stores snapshots. Each whose integration is registered and has a notification URL gets one delivery that is due at
   * once. The transaction rejects if a (payment, version) is already stored: its bytes are final.
   */
  insertSnapshots(snapshots: readonly NewSnapshot[]): Promise<void>

  /**
   * Stores the proof level of blocks, replacing earlier levels. Call after {@link lockChain}. Adjacent ranges of one
   * level and endpoint become one.
   */
  addProof(chainId: number, proven: ProvenRange): Promise<void>
  /**
   * Stores the proof level of a second read of blocks, for an added router. Each block gets the weaker of its two
   * levels: each read proves the payments of its own routers alone. Call after {@link lockChain}.
   */
  addWeakerProof(chainId: number, proven: ProvenRange): Promise<void>
  /** Stores the blocks that were read for a router, replacing its earlier coverage. */
  setCoverage(chainId: number, coverage: RouterCoverage): Promise<void>
  /** Stores deposits, or updates the chain's facts of those stored under the same (chainId, txHash, ordinal). */
  upsertDeposits(deposits: readonly BridgeDeposit[]): Promise<void>
  /**
   * Settles a waiting deposit. Resolves false when it no longer waits: its block left the chain, or another transaction
   * settled it.
   */
  settleDeposit(id: string): Promise<boolean>

  /** The updates stored under these ids, in any order. */
  findUpdates(updateIds: readonly string[]): Promise<StoredUpdate[]>
  /**
   * Stores updates with their outcomes, in their order. No two have the same id. One whose id is already stored is left
   * out. Resolves the ids of the others. The content of an update is kept while it waits, and if it was refused.
   */
  insertUpdates(updates: readonly NewUpdate[]): Promise<readonly string[]>
  /** Updates in state `waiting` for any of these transactions, in the order they were received. */
  waitingUpdates(keys: readonly PaymentSelector[]): Promise<ProcessorUpdate[]>
  /** Stores the outcomes of waiting updates. No two have the same id. Rejects if one does not wait. */
  settleUpdates(settled: readonly SettledUpdate[]): Promise<void>

  /**
   * Makes deliveries of any status due at once. Their retry schedule restarts, and their attempts are replays from now
   * on. A leased delivery is unchanged.
   */
  replayDeliveries(request: ReplayRequest): Promise<Replayed>

  /** Those of some integration addresses that are stored, enabled or not. */
  registeredIntegrations(addresses: readonly string[]): Promise<ReadonlySet<string>>
  /** Integrations, as part of this transaction. */
  readonly integrations: Pick<IntegrationStore, 'find' | 'list' | 'insert' | 'update'>
  /** Accounts with their link configurations, as part of this transaction. */
  readonly accounts: AccountTransaction
  /** Legacy keys, as part of this transaction. */
  readonly legacyKeys: Pick<LegacyKeyStore, 'list' | 'insert' | 'revoke'>
  /** Operators and sessions, as part of this transaction. */
  readonly operators: OperatorTransaction
  /** Sessions of integrations, as part of this transaction. */
  readonly integrationSessions: IntegrationSessionTransaction
  /** Data keys, as part of this transaction. */
  readonly dataKeys: DataKeyTransaction
  /** The newest record of the audit log, or null. No other transaction adds one until this one ends. */
  lockAudit(): Promise<AuditRecord | null>
  /** Adds a record. Call after {@link lockAudit}, with the `seq` that follows. */
  appendAudit(record: AuditRecord): Promise<void>
  /** Removes the records up to a number. Call after {@link lockAudit}. */
  removeAudit(upToSeq: number): Promise<void>
  /** Stores removed records again, in their order; those that are there stay. Call after {@link lockAudit}. */
  restoreAudit(records: readonly AuditRecord[]): Promise<void>

  /** Subjects, redemptions and verifications. */
  readonly identity: IdentityTransaction
  /** The store's own accounts, for hosts without users. */
  readonly identityAccounts: IdentityAccountTransaction
}
