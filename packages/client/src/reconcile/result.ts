/** The result of `reconcile`. @module */
import type { Client } from '../client.js'
import type { ReconcileCheckpoint } from './checkpoint.js'
import type {
  FailedPayment,
  Findings,
  MissingPayment,
  SeveralPayments,
  StalePayment,
  UnknownPayment,
  UnreadTransaction,
} from './findings.js'
import type { ReconcileOptions } from './options.js'
import type { ListingStore, ReconcileStore } from './store.js'

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
  /** Payments compared. */
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
   * Payments of which the store had a greater version, because a delivery was faster than the page. If it stays above 0
   * without traffic, the service has lost versions.
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

/** Compares and repairs. */
export interface Reconcile {
  <Tx>(
    client: ReconcileClient,
    options: ReconcileOptions<Tx, ListingStore<Tx>>,
  ): Promise<Reconciliation<Findings<UnknownPayment> | null>>
  <Tx>(client: ReconcileClient, options: ReconcileOptions<Tx, ReconcileStore<Tx>>): Promise<Reconciliation<null>>
}
