/** Payments, snapshots and updates in a store. Every query of the read API is scoped to one integration. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { Checkpoint, WaitingQuery } from '../indexer/chain-store.js'
import type { PaymentFacts, PaymentStatus, StoredPayment } from './payment.js'

/** A position in the order (blockTimestamp, chainId, txHash), descending. Source: docs/interface.md 4.1. */
export interface PagePosition {
  /** Unix time in milliseconds. */
  readonly blockTimestamp: number
  readonly chainId: number
  readonly txHash: string
  /**
   * The number of repositions of the integration when the listing began. A reorg may give a payment another time; later
   * pages still have it at its former position.
   */
  readonly asOf: number
}

export interface PageQuery {
  /** The caller, lowercased: always part of the query. */
  readonly integrationAddress: string
  /** Narrows to payments that this address sent or received, lowercased. */
  readonly wallet?: string | undefined
  /** Rows strictly after this position; from the newest when absent. */
  readonly after?: PagePosition | undefined
  readonly limit: number
}

/** `next`: position of the next page; null: this is the last. */
export type StoredPage = { readonly payments: readonly StoredPayment[]; readonly next: PagePosition | null }

/** The payments of one transaction and the indexed height of their chain, at one moment. */
export interface StoredTransaction {
  /** All payments, primary or not, by ordinal. */
  readonly payments: readonly StoredPayment[]
  /** The height that decides finality. After a reorg final payments stay final. Null: the chain is not indexed. */
  readonly indexedTo: number | null
}

/** Reads that see committed rows only. */
export interface PaymentReads {
  /**
   * Primary payments of one integration, newest first, at most `limit`, at the same cost at any depth. A listing has
   * every payment that was stored at its first page exactly once, and a later one at most once, whatever changes
   * meanwhile. Pages of a wallet have the payments that are the wallet's when the page is read.
   */
  list(query: PageQuery): Promise<StoredPage>
  /** All payments of a transaction, of any integration, for the legacy look-up. Source: docs/interface.md 4.3. */
  transaction(key: PaymentSelector): Promise<StoredTransaction>
  /** Primary payments of one integration under a hash: one per destination chain, at most two are returned. */
  findByHash(
    query: Pick<PageQuery, 'integrationAddress' | 'wallet'> & Pick<PaymentFacts, 'txHash'>,
  ): Promise<StoredPayment[]>
  /** Primary payments of a chain in one of `unsettledStates`, oldest first. The cost grows with the result alone. */
  listUnsettled(query: WaitingQuery & { readonly chainId: number }): Promise<StoredPayment[]>
  /** The chains with payments in one of `unsettledStates`, ascending. The cost grows with their number. */
  unsettledChains(): Promise<number[]>
  checkpoint(chainId: number): Promise<Checkpoint | null>
  snapshot(paymentId: string, version: number): Promise<Uint8Array | null>
}

/** Facts to store, with the decision whether the read API shows this payment. */
export interface NewPayment {
  readonly facts: PaymentFacts
  readonly primary: boolean
}

/** Snapshot bytes, stored once and sent unchanged. */
export interface NewSnapshot extends PaymentSelector {
  readonly paymentId: string
  readonly version: number
  /** UTF-8 JSON, exactly as it will be sent. A store may leave integration, chain and transaction out of its copy. */
  readonly body: Uint8Array
  /** The payment's integration, which is notified; null when the payment names none. */
  readonly integrationAddress: string | null
}

export type PaymentSelector = Pick<PaymentFacts, 'chainId' | 'txHash'>

/** The record of a processor's update: a repetition of the update is answered from it. */
export interface StoredUpdate {
  readonly id: string
  /** The first 16 bytes of a SHA-256 of its content, as `0x` text. Equal contents have equal fingerprints. */
  readonly fingerprint: string
  readonly outcome: UpdateOutcome
  readonly reason: string | null
  /** The version of the payment after the update; null while it waits. */
  readonly version: number | null
}

export interface NewUpdate extends Omit<StoredUpdate, 'id'> {
  readonly update: ProcessorUpdate
  /** The payment that the update was decided on; null while it waits. */
  readonly paymentId: string | null
}

export type SettledUpdate = Omit<StoredUpdate, 'fingerprint'> & { readonly paymentId: string }

export interface OverdueQuery {
  readonly chainId: number
  readonly atOrBelow: number
  readonly limit: number
  /** The height for payments whose deposit waits again: its fulfillment may be in another block. @default atOrBelow */
  readonly awaitedAtOrBelow?: number | undefined
}

export interface UpsertedPayments {
  /** Payments that were not stored before, with version 1 and no state. */
  readonly inserted: readonly StoredPayment[]
  /** Dropped payments that are on the chain again, locked, still marked as dropped: the caller restores their state. */
  readonly returned: readonly StoredPayment[]
}

export interface PaymentTransaction {
  /**
   * Marks the payments of a chain in blocks above a height as off the chain, and deletes the waiting deposits there.
   * {@link upsertPayments} removes the mark. A deposit on another chain that a marked payment fulfilled waits again.
   */
  markOffChainAbove(chainId: number, height: number): Promise<void>
  markOffChain(paymentIds: readonly string[]): Promise<void>
  /**
   * Inserts payments, or updates the chain's facts of those stored under the same (chainId, txHash, ordinal). A stored
   * payment keeps its `integrationAddress`, which is in its snapshots. It also keeps `primary` and its status, so no
   * new version is due. All given payments are on the chain afterwards. Call after `lockChain` where some may be
   * stored: their former blocks must not change meanwhile.
   */
  upsertPayments(payments: readonly NewPayment[]): Promise<UpsertedPayments>
  /** Payments of a chain in blocks `from` to `to`, both included, on the chain or off it, by block and log index. */
  paymentsInBlocks(chainId: number, from: number, to: number): Promise<StoredPayment[]>
  /** Payments off the chain, not dropped yet, whose block was at or below a height: at most `limit`, locked. */
  overduePayments(query: OverdueQuery): Promise<StoredPayment[]>
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
  findUpdates(updateIds: readonly string[]): Promise<StoredUpdate[]>
  /**
   * Stores updates with their outcomes, in their order; no two have the same id. An update whose id is stored is
   * skipped. Resolves the ids that were new. The content is stored while an update waits, and if it was rejected.
   */
  insertUpdates(updates: readonly NewUpdate[]): Promise<readonly string[]>
  /** Updates in state `waiting` for any of these transactions, in the order they were received. */
  waitingUpdates(keys: readonly PaymentSelector[]): Promise<ProcessorUpdate[]>
  /** Stores the outcomes of waiting updates. No two have the same id. Rejects if one does not wait. */
  settleUpdates(settled: readonly SettledUpdate[]): Promise<void>
}
