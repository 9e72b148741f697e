/** The differences between store and service, with counts and samples, and the result of a run. @module */
import type { Client } from '../client.js'
import type { Payment } from '../payments.js'
import type { ReconcileCheckpoint } from './checkpoint.js'
import type { ListingStore, ReconcileOptions, ReconcileStore } from './options.js'

/** Payments of one kind. */
export interface Findings<Sample> {
  /** Number of all payments of the kind. */
  readonly count: number
  /** The first of these payments, as many as the option `samples`. */
  readonly samples: readonly Sample[]
  /** Number of payments that are not among the samples. */
  readonly omitted: number
}

/** A payment of the service that the store did not have. */
export type MissingPayment = Pick<Payment, 'chainId' | 'txHash' | 'version'>

/** A payment of which the store had an older version. */
export interface StalePayment extends MissingPayment {
  /** The version in the store. `version` is the service's. */
  readonly storedVersion: number
}

/** A payment that is still missing or stale, because the handler threw. */
export interface FailedPayment extends MissingPayment {
  /** The error of the handler. */
  readonly error: unknown
}

/** A payment of the store that was not found at the service. */
export interface UnknownPayment extends Pick<Payment, 'chainId' | 'txHash'> {
  /**
   * - `not_found`: the service has no such payment for the integration.
   * - `other_chain`: the service has the hash only on another chain.
   * - `ambiguous`: the service has the hash on several chains, and no page showed this payment. It may still have the
   *   payment, if a reorg moved it while the pages were read.
   * - `unreadable`: unknown, because the look-up failed or was skipped after three failures in a row.
   */
  readonly reason: 'not_found' | 'other_chain' | 'ambiguous' | 'unreadable'
}

/**
 * A transaction with several payments, of which the read API shows one. The others may name this integration, another
 * one or none. The legacy API does not show which, so compare the memos with your orders.
 */
export interface SeveralPayments extends Pick<Payment, 'chainId' | 'txHash'> {
  /** Payments in the transaction, of any integration; 2 or more. */
  readonly payments: number
  /**
   * The first 100 memos, in the order of the legacy look-up. They include the memo of the payment that the read API
   * shows.
   */
  readonly memos: readonly string[]
}

/** A transaction whose look-up failed or was skipped after failures. It may hold further payments. */
export interface UnreadTransaction extends Pick<Payment, 'chainId' | 'txHash'> {
  /** The error of the look-up. For a skipped look-up: the error after which the run gave up. */
  readonly error: unknown
}

/** Counts all samples and keeps the first `limit`. */
export function createFindingList<Sample>(limit: number) {
  const samples: Sample[] = []
  let count = 0
  return {
    add(sample: Sample): void {
      count += 1
      if (samples.length < limit) samples.push(sample)
    },
    get count() {
      return count
    },
    summarize: (): Findings<Sample> => ({ count, samples: [...samples], omitted: count - samples.length }),
  }
}

/** Findings and repairs of a run. */
export interface Reconciliation<Unknown = Findings<UnknownPayment> | null> {
  /** Why the run stopped. Only `max_pages` leaves pages to read. */
  readonly stopped: 'end' | 'known' | 'date' | 'max_pages'
  /** Store it for the next run. */
  readonly checkpoint: ReconcileCheckpoint
  /** Whether the service rejected the cursor of the checkpoint, so that the run started anew. */
  readonly restarted: boolean
  /** Pages read. */
  readonly pages: number
  /** Payments compared with the store. */
  readonly compared: number
  /** Payments repaired: missing and stale without failed. 0 in a dry run. */
  readonly repaired: number
  /** Payments that the store did not have. */
  readonly missing: Findings<MissingPayment>
  /** Payments of which the store had an older version. */
  readonly stale: Findings<StalePayment>
  /** Missing or stale payments whose handler threw. The next run with this checkpoint repeats them. */
  readonly failed: Findings<FailedPayment>
  /**
   * Payments of which the store had a greater version, because a delivery was faster than the page. If this number
   * stays above 0 without traffic, the service has lost versions.
   */
  readonly newer: number
  /**
   * Payments of the store that were not found at the service. Null unless the store can list, `until` is `'end'`, and
   * this run alone read every page. The service may still have those that are `ambiguous` or `unreadable`: see
   * `reason`.
   */
  readonly unknown: Unknown
  /**
   * Transactions with several payments, of which the read API shows one. Covers the payments that this run compared and
   * failed look-ups of earlier runs. Null without the option `legacy`.
   */
  readonly severalPayments: Findings<SeveralPayments> | null
  /**
   * Transactions whose look-up for `severalPayments` failed. The run goes on. The next run with this checkpoint repeats
   * the look-up, unless the answer was final, such as 404. Null without the option `legacy`.
   */
  readonly unreadTransactions: Findings<UnreadTransaction> | null
}

/** The parts of a client that reconciling uses. */
type ReconcileClient = Pick<Client, 'integrationAddress' | 'payments'>

/** The type of `reconcile`. Only a store that can list has `unknown` payments. */
export interface Reconcile {
  <Tx>(
    client: ReconcileClient,
    options: ReconcileOptions<Tx, ListingStore<Tx>>,
  ): Promise<Reconciliation<Findings<UnknownPayment> | null>>
  <Tx>(client: ReconcileClient, options: ReconcileOptions<Tx, ReconcileStore<Tx>>): Promise<Reconciliation<null>>
}
