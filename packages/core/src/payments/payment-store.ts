/** Reads payments. Every query of area (a) is scoped to one integration. @module */

import type { Checkpoint } from '../ports/store-transaction.js'
import type { StoredPayment } from './payment.js'

/** A position in the order (blockTimestamp, chainId, txHash), descending. Source: docs/interface.md 4.1. */
export interface PagePosition {
  /** Unix time in milliseconds. */
  readonly blockTimestamp: number
  readonly chainId: number
  readonly txHash: string
  /**
   * The start of the listing, as the number of the integration's earlier moves. A reorganisation may move a payment to
   * another time; later pages of the listing still have it at its former position.
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

/** A page. */
export interface StoredPage {
  readonly payments: readonly StoredPayment[]
  /** Where the next page begins, or null when this is the last. */
  readonly next: PagePosition | null
}

/** The payments of one transaction and the indexed height of their chain, at one moment. */
export interface StoredTransaction {
  /** All payments, primary or not, by ordinal. */
  readonly payments: readonly StoredPayment[]
  /**
   * The height for finality: the checkpoint's, or its height before a reorganisation until the blocks are read again.
   * Null when nothing is indexed.
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
   * Primary payments of one integration, newest first, at most `limit`. The cost is the same at any depth. A listing
   * has every payment that was stored at its first page exactly once, whatever is indexed, moved or changed meanwhile.
   * A payment indexed later appears at most once. The pages of a wallet have the payments that are the wallet's when
   * the page is read.
   */
  list(query: PageQuery): Promise<StoredPage>
  /**
   * Every payment of a transaction, of any integration. For the legacy look-up alone. Source: docs/interface.md 4.3.
   */
  transaction(key: { readonly chainId: number; readonly txHash: string }): Promise<StoredTransaction>
  /** Primary payments of one integration under a hash: one per destination chain, at most two are returned. */
  findByHash(query: SingleQuery): Promise<StoredPayment[]>
  /**
   * Primary payments of a chain in one of `unsettledStates`, oldest first, after `afterId` when given. The cost
   * grows with the result, not with the other payments.
   */
  listUnsettled(query: {
    readonly chainId: number
    readonly afterId?: string | undefined
    readonly limit: number
  }): Promise<StoredPayment[]>
  /** The chains that have such payments, ascending. The cost grows with their number. */
  unsettledChains(): Promise<number[]>
  /** The checkpoint of a chain, or null when nothing is indexed. */
  checkpoint(chainId: number): Promise<Checkpoint | null>
  /** The snapshot bytes, or null. */
  snapshot(paymentId: string, version: number): Promise<Uint8Array | null>
}
