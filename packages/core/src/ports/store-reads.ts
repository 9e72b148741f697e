/** Reading payments. Every query of area (a) is scoped to one integration. @module */
import type { PaymentState } from '@payment-integration/contract'
import type { StoredPayment } from '../payments/record.js'
import type { Checkpoint } from './store-transaction.js'

/** A place in the order (blockTimestamp, chainId, txHash), descending. Source: INTERFACE 4.1. */
export interface PagePosition {
  /** Unix time in milliseconds. */
  readonly blockTimestamp: number
  readonly chainId: number
  readonly txHash: string
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

/** A single payment to look up. */
export interface SingleQuery {
  readonly integrationAddress: string
  readonly txHash: string
  readonly wallet?: string | undefined
}

/** Reads that see committed rows only. */
export interface PaymentReads {
  /** Primary payments of one integration, newest first, at most `limit`. Costs the same at any depth. */
  list(query: PageQuery): Promise<StoredPayment[]>
  /** Primary payments of one integration under a hash: one per destination chain, at most two are returned. */
  findByHash(query: SingleQuery): Promise<StoredPayment[]>
  /**
   * Primary payments whose state is one of `states` (null included where listed), oldest first, after `afterId` when given;
   * of the chains `chainIds` alone when given. Costs as much as it returns, however many payments there are besides.
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
