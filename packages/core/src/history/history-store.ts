/** History that ends: rows, files and commands. Times are unix milliseconds. Source: docs/retention.md. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { AttemptRecord, DeliveryStatus } from '../notifications/delivery-store.js'
import type { FileReader, FileWriter } from '../ports/runtime.js'
import type { AuditRecord } from './audit-log.js'

/** Kinds whose rows are in segments. The audit log is cut by its records' times. */
export type SegmentedKind = Exclude<HistoryKind, 'audit'>

/** The rows that came in one period. Attempts belong to the segment of their delivery. */
export interface HistorySegment {
  /** Rises with the time. */
  readonly number: number
  /** 0 for the first one. */
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
  /** Removes exactly the rows of {@link rows}, and may be repeated. RangeError: deliveries whose attempts are there. */
  remove(): Promise<void>
}

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
   * Gives up the pending deliveries of the segments up to one, as exhausted, but for those in flight. Resolves how
   * many.
   */
  giveUpPending(upTo: number): Promise<number>
  /** The number of rows that may leave. An update that waits for its payment stays. */
  count(kind: SegmentedKind, segment: number): Promise<number>
  /** Attempts leave before deliveries, once the segment is closed and none of it is pending; else RangeError. */
  part<Kind extends SegmentedKind>(kind: Kind, segment: number): Promise<HistoryPart<Kind>>
  /**
   * Stores rows again that left a segment; those that are there stay as they are. Deliveries and attempts left a
   * closed segment, updates one that is not the newest.
   * @throws RangeError For another segment, or a row that is not of it: its number is of another segment, or its
   * payment or delivery is not there.
   */
  restore<Kind extends SegmentedKind>(kind: Kind, segment: number, rows: readonly HistoryRows[Kind][]): Promise<void>
}

/** A version of a payment, and its delivery. */
export interface DeliveryHistory {
  readonly deliveryId: string
  readonly paymentId: string
  readonly chainId: number
  readonly txHash: string
  readonly integrationAddress: string | null
  readonly version: number
  readonly createdAt: number
  /** Null: nobody was notified. */
  readonly status: Exclude<DeliveryStatus, 'pending' | 'missing'> | null
  readonly body: string
}

export interface AttemptHistory extends AttemptRecord {
  readonly deliveryId: string
  readonly number: number
}

export interface UpdateHistory {
  readonly seq: number
  readonly id: string
  readonly paymentId: string | null
  readonly version: number | null
  /** As `StoredUpdate` has it. */
  readonly fingerprint: string
  readonly outcome: Exclude<UpdateOutcome, 'waiting'>
  readonly reason: string | null
  /** Present when it was rejected. */
  readonly update: ProcessorUpdate | null
}

export interface HistoryRows {
  readonly attempts: AttemptHistory
  readonly deliveries: DeliveryHistory
  readonly updates: UpdateHistory
  readonly audit: AuditRecord
}

/** Kinds of history with a retention of their own. */
export type HistoryKind = keyof HistoryRows

export interface ArchiveHeader {
  readonly kind: HistoryKind
  /** The part of the history, a number that names it in its kind. */
  readonly part: number
  readonly writtenAt: number
}

export interface ArchivedFile {
  readonly name: string
  readonly rows: number
  /** Of its content: 64 lowercase hex digits. */
  readonly hmac: string
}

/** Files of ended history. */
export interface HistoryArchive {
  /** @throws RangeError For a header that no name can have. */
  create(header: ArchiveHeader): Promise<FileWriter>
  open(name: string): FileReader
}

/** How long each kind of history stays, in milliseconds; null: for ever. */
export type RetentionPolicy = Readonly<Record<HistoryKind, number | null>>

/** History that has ended: the rows of one kind and period. */
export interface ExpiredHistory {
  readonly kind: HistoryKind
  /** The number of its segment; of audit records, the first one's. */
  readonly part: number
  readonly rows: number
  /** 0 for the oldest. */
  readonly from: number
  readonly to: number
}

export interface HistoryPlan {
  readonly ended: readonly ExpiredHistory[]
  /** Deliveries and attempts of their segments would stay. */
  readonly pending: readonly PendingDeliveries[]
}

export type RetentionProgress =
  /** Rows from now on are in a new segment. */
  | { readonly event: 'begun' }
  /** Pending deliveries were given up. */
  | { readonly event: 'given_up'; readonly deliveries: number }
  /** It has pending deliveries of an integration, so that its deliveries and attempts stay. */
  | { readonly event: 'kept'; readonly pending: PendingDeliveries }
  /** The chain of the audit log is broken at a record, so that the log stays. */
  | { readonly event: 'audit_broken'; readonly brokenAt: number }
  | { readonly event: 'removed'; readonly history: ExpiredHistory; readonly file: ArchivedFile }

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
