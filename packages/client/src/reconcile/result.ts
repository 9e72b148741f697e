/** What a run of `reconcile` answers. @module */
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

/** What a run found and did. */
export interface Reconciliation<Unknown = Findings<UnknownPayment> | null> {
  /** What ended it: the end of the list, a page that needed nothing, the date, or `maxPages`. Only after `max_pages` is something left to read. */
  readonly stopped: 'end' | 'known' | 'date' | 'max_pages'
  /** Keep it for the next run. */
  readonly checkpoint: ReconcileCheckpoint
  /** Whether the service did not take the cursor of the checkpoint any more, so that the run began anew. */
  readonly restarted: boolean
  /** Pages read. */
  readonly pages: number
  /** Payments compared. */
  readonly compared: number
  /** Payments handled: missing and stale without failed. 0 in a dry run. */
  readonly repaired: number
  /** Payments that the store had not. */
  readonly missing: Findings<MissingPayment>
  /** Payments of which the store had an older version. */
  readonly stale: Findings<StalePayment>
  /** Those of them whose handler threw. The next run that has this checkpoint meets them again. */
  readonly failed: Findings<FailedPayment>
  /**
   * Payments of which the store had a greater version, because a delivery overtook the page. When it stays above 0 while nothing happens,
   * the service has lost versions.
   */
  readonly newer: number
  /**
   * What the store has and the service has not: looked for with `until: 'end'` in a store that can list, when this run alone read everything, from the newest to the
   * end. Null otherwise, and so after a run that went on with the rest of another. The service may have what is `ambiguous` or `unreadable` after all: see `reason`.
   */
  readonly unknown: Unknown
  /**
   * Transactions that hold several payments, of which the read API shows one: of the payments that this run compared,
   * and of failed look-ups of runs before. Null without the option `legacy`.
   */
  readonly severalPayments: Findings<SeveralPayments> | null
  /**
   * Transactions whose look-up for it failed. The run goes on, and the next run that has this checkpoint repeats the
   * look-up, unless the answer was final, such as 404. Null without the option `legacy`.
   */
  readonly unreadTransactions: Findings<UnreadTransaction> | null
}

/** Compares and repairs. */
export interface Reconcile {
  <Tx>(options: ReconcileOptions<Tx, ListingStore<Tx>>): Promise<Reconciliation<Findings<UnknownPayment> | null>>
  <Tx>(options: ReconcileOptions<Tx, ReconcileStore<Tx>>): Promise<Reconciliation<null>>
}
