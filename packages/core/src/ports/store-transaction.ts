/** What happens to payments inside one transaction. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { PaymentFacts } from '../payments/facts.js'
import type { PaymentStatus, StoredPayment } from '../payments/record.js'

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

/** A snapshot's bytes, stored once and sent unchanged. */
export interface NewSnapshot {
  readonly paymentId: string
  readonly version: number
  /** UTF-8 JSON, exactly as it will be sent. */
  readonly body: Uint8Array
  /** Whom to notify; null when the payment names nobody. */
  readonly integrationAddress: string | null
}

/** Names the transaction that an update is about. */
export interface PaymentSelector {
  readonly chainId: number
  readonly txHash: string
}

/** A processor's update as it was received. */
export interface StoredUpdate {
  readonly update: ProcessorUpdate
  readonly outcome: UpdateOutcome
  /** Why it was refused, or null. */
  readonly reason: string | null
  /** The payment's version after it, or null while it waits. */
  readonly version: number | null
}

/** Operations inside one transaction. All of them are undone together when the transaction rejects. */
export interface StoreTransaction {
  /**
   * Takes the chain for writing its blocks, until the transaction ends: a second indexer of the chain waits, and so does
   * {@link shareChain}. Resolves the stored checkpoint, or null when nothing is indexed.
   */
  lockChain(chainId: number): Promise<Checkpoint | null>
  /** Waits until no {@link lockChain} of the chain is in flight and keeps new ones out until the transaction ends. */
  shareChain(chainId: number): Promise<void>
  /**
   * Moves the checkpoint, up or down. Call after {@link lockChain}. Keeps the hash, so that {@link checkpoints} lists this
   * height, and forgets every height above it.
   */
  setCheckpoint(chainId: number, checkpoint: Checkpoint): Promise<void>
  /** Marks the payments of a chain in blocks above a height as off the chain; {@link upsertPayments} takes the mark away. */
  leaveChain(chainId: number, above: number): Promise<void>
  /** Checkpoints stored at or below a height, newest first, at most `limit`. */
  checkpoints(chainId: number, atOrBelow: number, limit: number): Promise<Checkpoint[]>

  /**
   * Inserts payments, or updates the chain's facts of those already stored under the same (chainId, txHash, ordinal): all of
   * them but `integrationAddress`, which their snapshots hold. `primary` and the status stay too, so no new version is due.
   * They are on the chain then, whatever was before.
   * Call after {@link lockChain} where some may be stored: what they leave must not change in between.
   * Resolves only the inserted ones, with version 1 and no state.
   */
  upsertPayments(payments: readonly NewPayment[]): Promise<StoredPayment[]>
  /** The primary payments of a transaction, locked for change until the transaction ends. Ordered by ordinal. */
  paymentsForChange(selector: PaymentSelector): Promise<StoredPayment[]>
  /** Writes a new status. The caller holds the payment from {@link paymentsForChange} or {@link upsertPayments}. */
  setStatus(paymentId: string, status: PaymentStatus): Promise<void>

  /**
   * Stores snapshots and, for each whose integration is registered and has a notification URL, one delivery that is due at
   * once. A (payment, version) that is already stored makes the transaction reject: its bytes are final.
   */
  insertSnapshots(snapshots: readonly NewSnapshot[]): Promise<void>

  /** The update stored under an id, or null. */
  findUpdate(updateId: string): Promise<StoredUpdate | null>
  /** Stores an update with its outcome. Resolves false, writing nothing, when the id is already stored. */
  insertUpdate(update: StoredUpdate): Promise<boolean>
  /** Updates in state `waiting` for any of these transactions, in the order they were received. */
  waitingUpdates(keys: readonly { chainId: number; txHash: string }[]): Promise<StoredUpdate[]>
  /** Records what became of a waiting update. */
  settleUpdate(updateId: string, result: Pick<StoredUpdate, 'outcome' | 'reason' | 'version'>): Promise<void>
}
