/** The port to history that ends: old rows, and how they leave a store. Source: docs/retention.md. @module */
import type { HistoryKind, HistoryRows } from './history-archive.js'

/** Kinds whose rows are in segments. The audit log is cut by its records' times. */
export type SegmentedKind = Exclude<HistoryKind, 'audit'>

/** The rows that came in one period. Attempts belong to the segment of their delivery. */
export interface HistorySegment {
  /** Rises with the time. */
  readonly number: number
  /** Unix milliseconds; 0 for the first one. */
  readonly begunAt: number
  /** When the next one began; null for the newest. */
  readonly endedAt: number | null
}

/** Deliveries of a segment and an integration that are pending. */
export interface PendingDeliveries {
  readonly segment: number
  readonly integrationAddress: string
  readonly count: number
}

/** The rows of one kind in a segment that may leave. */
export interface HistoryPart<Kind extends SegmentedKind = SegmentedKind> {
  /** In groups, oldest first. */
  rows(): AsyncIterable<readonly HistoryRows[Kind][]>
  /**
   * Removes exactly the rows that {@link rows} gives. A call that was interrupted may be repeated.
   * @throws RangeError For deliveries whose attempts are there.
   */
  remove(): Promise<void>
}

/** History in segments. */
export interface HistoryStore {
  /** All of them, oldest first; the last one is the newest, to which new rows belong. */
  segments(): Promise<HistorySegment[]>
  /** Begins a segment. Rows of transactions that run meanwhile may still join the one before. */
  beginSegment(): Promise<void>
  /**
   * Ends the replays of a segment's deliveries, and of all before it. Once none of them is pending, their history no
   * longer changes.
   * @throws RangeError When a delivery of them is missing, or the segment is the newest.
   */
  closeSegments(upTo: number): Promise<void>
  /** Pending deliveries of the segments up to one, whose history must stay. */
  pending(upTo: number): Promise<readonly PendingDeliveries[]>
  /**
   * Gives up the pending deliveries of the segments up to one, as exhausted, but for those that are being attempted.
   * @returns How many.
   */
  giveUpPending(upTo: number): Promise<number>
  /** The number of rows that may leave. An update that waits for its payment stays. */
  count(kind: SegmentedKind, segment: number): Promise<number>
  /**
   * Deliveries and attempts leave when their segment is closed and none of it is pending, attempts first.
   * @throws RangeError For a segment that is not closed.
   */
  part<Kind extends SegmentedKind>(kind: Kind, segment: number): Promise<HistoryPart<Kind>>
  /**
   * Stores rows again that left a segment; those that are there stay as they are. Deliveries and attempts left a
   * closed segment, updates one that is not the newest.
   * @throws RangeError For another segment, or a row that is not of it: its number is of another segment, or its
   * payment or delivery is not there.
   */
  restore<Kind extends SegmentedKind>(kind: Kind, segment: number, rows: readonly HistoryRows[Kind][]): Promise<void>
}
