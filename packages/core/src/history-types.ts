/** The types of ending history. Source: docs/retention.md. @module */
import type { ArchivedFile, HistoryArchive, HistoryKind } from './ports/history-archive.js'

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

/** One step of a run. */
export type RetentionProgress =
  /** Rows from now on are in a new segment. */
  | { readonly event: 'begun' }
  /** Some of its deliveries are pending, so that it stays. */
  | { readonly event: 'kept'; readonly history: Omit<EndedHistory, 'rows'>; readonly pending: number }
  | { readonly event: 'removed'; readonly history: EndedHistory; readonly file: ArchivedFile }

/** Ends history, and brings it back. */
export interface HistoryCommands {
  /** What {@link run} would remove now. Changes nothing. */
  plan(policy: RetentionPolicy): Promise<EndedHistory[]>
  /**
   * Writes history that is older than its time to files, then removes it. History is cut where a segment begins, so
   * that it stays a little longer than asked: up to a day, or a 64th of the longest time. Run it once a day.
   *
   * An interrupted run loses nothing: the next one writes the file again. One run at a time.
   * @throws RangeError For a time below a minute. @throws TypeError When the store keeps its history for ever.
   */
  run(
    policy: RetentionPolicy,
    archive: HistoryArchive,
    options?: { readonly onProgress?: (progress: RetentionProgress) => void; readonly signal?: AbortSignal },
  ): Promise<void>
  /**
   * Stores the rows of a file again, until the next run. Deliveries among them are shown, and not replayed.
   * @returns The number of rows in the file.
   * @throws ArchiveError `ERR_ARCHIVE` for a damaged file. @throws RangeError For a file of another database.
   */
  restore(archive: HistoryArchive, name: string): Promise<{ readonly kind: HistoryKind; readonly rows: number }>
}
