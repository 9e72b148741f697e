/** The types of ending history. Source: docs/retention.md. @module */
import type { ArchivedFile, HistoryArchive, HistoryKind } from './ports/history-archive.js'
import type { PendingDeliveries } from './ports/store-history.js'

/** How long each kind of history stays, in milliseconds; null: for ever. */
export type RetentionPolicy = Readonly<Record<HistoryKind, number | null>>

/** History that has ended: the rows of one kind and period. */
export interface EndedHistory {
  readonly kind: HistoryKind
  /** The number of its segment; of audit records, the first one's. */
  readonly part: number
  readonly rows: number
  /** Unix milliseconds; 0 for the oldest. */
  readonly from: number
  /** Unix milliseconds. */
  readonly to: number
}

/** The effect of a run. */
export interface HistoryPlan {
  readonly ended: readonly EndedHistory[]
  /** Deliveries and attempts of their segments would stay. */
  readonly pending: readonly PendingDeliveries[]
}

/** One step of a run. */
export type RetentionProgress =
  /** Rows from now on are in a new segment. */
  | { readonly event: 'begun' }
  /** Pending deliveries were given up. */
  | { readonly event: 'given_up'; readonly deliveries: number }
  /** It has pending deliveries of an integration, so that its deliveries and attempts stay. */
  | { readonly event: 'kept'; readonly pending: PendingDeliveries }
  /** The chain of the audit log is broken at a record, so that the log stays. */
  | { readonly event: 'audit_broken'; readonly brokenAt: number }
  | { readonly event: 'removed'; readonly history: EndedHistory; readonly file: ArchivedFile }

/** How a run goes. */
export interface RetentionOptions {
  /**
   * Whether pending deliveries of ended segments are given up, as exhausted. Without it they keep their segment.
   * @default false
   */
  readonly givesUp?: boolean | undefined
  readonly onProgress?: ((progress: RetentionProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Ends history, and brings it back. */
export interface HistoryCommands {
  /** What {@link run} would remove now. Changes nothing. */
  plan(policy: RetentionPolicy): Promise<HistoryPlan>
  /**
   * Writes history that is older than its time to files, then removes it. History is cut where a segment begins, so
   * that it stays longer than asked: up to a day, or a 64th of the longest time. Where deliveries have no end, it is up
   * to 30 days. Run it once a day.
   *
   * An interrupted run loses nothing: the next one writes the file again.
   * @throws StoreError `ERR_STORE_BUSY` while another run goes on; a minute after one was killed.
   * @throws RangeError For a time below a minute. @throws TypeError When the store keeps its history for ever.
   */
  run(policy: RetentionPolicy, archive: HistoryArchive, options?: RetentionOptions): Promise<void>
  /**
   * Stores the rows of a file again, until the next run. Deliveries among them are shown, and not replayed.
   * @returns The number of rows in the file.
   * @throws ArchiveError `ERR_ARCHIVE` for a damaged or forged file, or one of another database; it changes
   * nothing. Also for attempts before their deliveries, and for audit records that do not end where the log begins.
   */
  restore(
    archive: HistoryArchive,
    name: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly kind: HistoryKind; readonly rows: number }>
}
