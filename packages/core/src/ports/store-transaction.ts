/** What happens to payments inside one transaction. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { PaymentFacts } from '../payments/facts.js'
import type { PaymentStatus, StoredPayment } from '../payments/record.js'
import type { BridgeDeposit } from './fulfilment.js'
import type { IdentityAccountTransaction } from './identity-accounts.js'
import type { AuditRecord } from './store-audit.js'
import type { ProvenRange, RouterCoverage } from './store-chains.js'
import type { DataKeyTransaction } from './store-data-keys.js'
import type { Replayed, ReplayRequest } from './store-deliveries.js'
import type { IdentityTransaction } from './store-identity.js'
import type { IntegrationStore } from './store-integrations.js'
import type { LegacyKeyStore } from './store-legacy-keys.js'

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

/** What an upsert came to. */
export interface UpsertedPayments {
  /** Payments that were not stored before, with version 1 and no state. */
  readonly inserted: readonly StoredPayment[]
  /**
   * Payments that were dropped and are on the chain again, still with their note, locked for change: whoever upserted
   * them settles it.
   */
  readonly returned: readonly StoredPayment[]
}

/** Operations inside one transaction. All of them are undone together when the transaction rejects. */
export interface StoreTransaction {
  /**
   * Takes the chain for writing its blocks, until the transaction ends: a second indexer of the chain waits, and so
   * does {@link shareChain}. Resolves the stored checkpoint, or null when nothing is indexed.
   */
  lockChain(chainId: number): Promise<Checkpoint | null>
  /** Waits until no {@link lockChain} of the chain is in flight and keeps new ones out until the transaction ends. */
  shareChain(chainId: number): Promise<void>
  /**
   * Moves the checkpoint, up or down. Call after {@link lockChain}. Keeps its hash, and those of `below`, so that
   * {@link checkpoints} lists these heights, and forgets every height above it, with how the blocks there were proven.
   * Of what lies more than 2,000 heights below it a store may keep less, but at least one of each 2,000 that were
   * stored, 1,000,000 heights down.
   *
   * @param below - Blocks under it, ascending, that a reorganisation may lead back to.
   */
  setCheckpoint(chainId: number, checkpoint: Checkpoint, below?: readonly Checkpoint[]): Promise<void>
  /**
   * Marks the payments of a chain in blocks above a height as off the chain, and forgets its deposits there that wait;
   * {@link upsertPayments} takes the mark away. The deposits, on other chains, of payments that it marks wait again.
   */
  leaveChain(chainId: number, above: number): Promise<void>
  /** Marks payments as off the chain. */
  leavePayments(paymentIds: readonly string[]): Promise<void>
  /**
   * How high the stored blocks were built upon: the checkpoint's height, or the one of {@link setReached} while that is
   * higher; null when nothing is indexed.
   */
  reached(chainId: number): Promise<number | null>
  /**
   * Notes, once the checkpoint was moved down, how high the blocks that stay were built upon: what was final remains so
   * while the rest is read again. The note ends when the checkpoint is as high, or goes down again.
   */
  setReached(chainId: number, height: number): Promise<void>
  /** Checkpoints stored at or below a height, newest first, at most `limit`. */
  checkpoints(chainId: number, atOrBelow: number, limit: number): Promise<Checkpoint[]>

  /**
   * Inserts payments, or updates the chain's facts of those already stored under the same (chainId, txHash, ordinal):
   * all of them but `integrationAddress`, which their snapshots hold. `primary` and the status stay too, so no new
   * version is due. They are on the chain then, whatever was before. Call after {@link lockChain} where some may be
   * stored: what they leave must not change in between.
   */
  upsertPayments(payments: readonly NewPayment[]): Promise<UpsertedPayments>
  /** Payments of a chain in blocks `from` to `to`, both included, on the chain or off it, by block and log index. */
  paymentsInBlocks(chainId: number, from: number, to: number): Promise<StoredPayment[]>
  /**
   * Payments of a chain off the chain, not dropped yet, whose block was at or below a height: at most `limit`, locked
   * for change.
   *
   * @param awaitedAtOrBelow - The height for payments from another chain whose deposit waits: what fulfilled it may be
   * in another block.
   *   @default `atOrBelow`
   */
  overduePayments(
    chainId: number,
    atOrBelow: number,
    limit: number,
    awaitedAtOrBelow?: number,
  ): Promise<StoredPayment[]>
  /** Notes that a payment was dropped, with the state to give back should it return; null: that it is no longer. */
  setDropped(paymentId: string, dropped: StoredPayment['dropped']): Promise<void>
  /** The primary payments of a transaction, locked for change until the transaction ends. Ordered by ordinal. */
  paymentsForChange(selector: PaymentSelector): Promise<StoredPayment[]>
  /** Writes a new status. The caller holds the payment from {@link paymentsForChange} or {@link upsertPayments}. */
  setStatus(paymentId: string, status: PaymentStatus): Promise<void>

  /**
   * Stores snapshots and, for each whose integration is registered and has a notification URL, one delivery that is due
   * at once. A (payment, version) that is already stored makes the transaction reject: its bytes are final.
   */
  insertSnapshots(snapshots: readonly NewSnapshot[]): Promise<void>

  /**
   * Notes how blocks were proven, in place of what was noted of them before; call after {@link lockChain}. Neighbours
   * of one level and endpoint become one.
   */
  addProof(chainId: number, proven: ProvenRange): Promise<void>
  /**
   * Notes how blocks were proven when they were read once more, for a router that was added: each keeps the weaker of
   * both notes, since no payment of it is missing only as far as either reading proves it. Call after {@link
   * lockChain}.
   */
  addWeakerProof(chainId: number, proven: ProvenRange): Promise<void>
  /** Notes which blocks were read for a router, in place of what was noted of it before. */
  setCoverage(chainId: number, coverage: RouterCoverage): Promise<void>
  /** Stores deposits, or what the chain says of those stored under the same (chainId, txHash, ordinal). */
  upsertDeposits(deposits: readonly BridgeDeposit[]): Promise<void>
  /**
   * Ends the wait of a deposit. Resolves false when it no longer waits: its block left the chain, or somebody was
   * faster.
   */
  settleDeposit(id: string): Promise<boolean>

  /** The update stored under an id, or null. */
  findUpdate(updateId: string): Promise<StoredUpdate | null>
  /** Stores an update with its outcome. Resolves false, writing nothing, when the id is already stored. */
  insertUpdate(update: StoredUpdate): Promise<boolean>
  /** Updates in state `waiting` for any of these transactions, in the order they were received. */
  waitingUpdates(keys: readonly { chainId: number; txHash: string }[]): Promise<StoredUpdate[]>
  /** Records what became of a waiting update. */
  settleUpdate(updateId: string, result: Pick<StoredUpdate, 'outcome' | 'reason' | 'version'>): Promise<void>

  /**
   * Makes deliveries due at once, whatever their status: their retry schedule begins anew, and their attempts are
   * replays from now on. One that a dispatcher holds is left alone.
   */
  replayDeliveries(request: ReplayRequest): Promise<Replayed>

  /** Integrations, written together with what else this transaction does. */
  readonly integrations: Pick<IntegrationStore, 'find' | 'list' | 'insert' | 'update'>
  /** Legacy keys, likewise. */
  readonly legacyKeys: Pick<LegacyKeyStore, 'list' | 'insert' | 'revoke'>
  /** Data keys, likewise. */
  readonly dataKeys: DataKeyTransaction
  /** The newest record of the audit log, or null; nobody else adds one until the transaction ends. */
  lockAudit(): Promise<AuditRecord | null>
  /** Adds a record. Call after {@link lockAudit}, with the `seq` that follows. */
  appendAudit(record: AuditRecord): Promise<void>

  /** Subjects, redemptions and verifications. */
  readonly identity: IdentityTransaction
  /** The store's own accounts, for hosts without users. */
  readonly identityAccounts: IdentityAccountTransaction
}
