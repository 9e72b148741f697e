/** Reading payments. Every query of area (a) is scoped to one integration. @module */
import type { PaymentState } from '@payment-integration/contract'
import type { StoredPayment } from '../payments/record.js'
import type { Checkpoint } from './store-transaction.js'

/** A place in the order (blockTimestamp, chainId, txHash), descending. Source: docs/interface.md 4.1. */
export interface PagePosition {
  /** Unix time in milliseconds. */
  readonly blockTimestamp: number
  readonly chainId: number
  readonly txHash: string
  /**
   * When the walk began, as a count of the integration's moves before it: a reorganisation may give a payment another
   * time, and the rest of the walk sees it where it was.
   */
  readonly asOf: number
}

/** A page to read. */
export interface PageQuery {
  /** The caller, lowercased: always part of the query. */
  readonly integrationAddress: string
  /** Narrows to payments that this address sent or received, lowercased. */
  readonly wallet?: string | undefined
  /** Rows strictly after this position; from the newest when absent. */
  readonly after?: PagePosition | undefined
  readonly limit: number
}

/** A page that was read. */
export interface StoredPage {
  readonly payments: readonly StoredPayment[]
  /** Where the next page begins, or null when this is the last. */
  readonly next: PagePosition | null
}

/** The payments of one transaction with how far their chain was indexed, as of one moment. */
export interface StoredTransaction {
  /** All of them, primary or not, by ordinal. */
  readonly payments: readonly StoredPayment[]
  /**
   * How high the stored blocks of the chain were built upon: its checkpoint's height, or while blocks are read again
   * after a reorganisation, as high as it was before. Null when nothing is indexed.
   */
  readonly indexedTo: number | null
}

/** A single payment to look up. */
export interface SingleQuery {
  readonly integrationAddress: string
  readonly txHash: string
  readonly wallet?: string | undefined
}

/** Reads that see committed rows only. */
export interface PaymentReads {
  /**
   * Primary payments of one integration, newest first, at most `limit`. Costs the same at any depth. Pages that follow
   * each other hold every payment that was there when the first was read, once, whatever is indexed, moved or changed
   * in between; what was indexed since then may be among them, at most once. A wallet's pages hold those that are the
   * wallet's when they are read.
   */
  list(query: PageQuery): Promise<StoredPage>
  /**
   * Every payment of a transaction, whichever integration it names. For the legacy look-up alone. Source:
   * docs/interface.md 4.3.
   */
  transaction(key: { readonly chainId: number; readonly txHash: string }): Promise<StoredTransaction>
  /** Primary payments of one integration under a hash: one per destination chain, at most two are returned. */
  findByHash(query: SingleQuery): Promise<StoredPayment[]>
  /**
   * Primary payments whose state is one of `states` (null included where listed), oldest first, after `afterId` when
   * given; of the chains `chainIds` alone when given. Costs as much as it returns, however many payments there are
   * besides.
   */
  listByState(query: {
    readonly states: readonly (PaymentState | null)[]
    readonly chainIds?: readonly number[] | undefined
    readonly afterId?: string | undefined
    readonly limit: number
  }): Promise<StoredPayment[]>
  /** The chains that have primary payments in one of `states`, ascending. Costs as much as there are such chains. */
  chainsByState(states: readonly (PaymentState | null)[]): Promise<number[]>
  /** The checkpoint of a chain, or null when nothing is indexed. */
  checkpoint(chainId: number): Promise<Checkpoint | null>
  /** The stored bytes of a snapshot, or null. */
  snapshot(paymentId: string, version: number): Promise<Uint8Array | null>
}
