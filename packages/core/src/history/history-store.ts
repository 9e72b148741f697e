/** Retention: its rows, files and commands. Times are unix milliseconds. Source: docs/retention.md. @module */
import { processorUpdateSchema } from '@payment-integration/contract'
import { primitives } from '@payment-integration/contract/internal'
import * as z from 'zod/mini'
import type { AttemptRecord } from '../notifications/delivery-store.js'
import type { FileReader, FileWriter } from '../ports/runtime.js'
import type { AuditAction, AuditRecord } from './audit-store.js'

/** Kinds whose rows are in segments. The audit log has none: its records expire by their time. */
export type SegmentedKind = Exclude<HistoryKind, 'audit'>

/** Rows that were written in one period; attempts belong to the segment of their delivery. */
export interface HistorySegment {
  /** Ascending by time. */
  readonly number: number
  /** 0 for the first segment. */
  readonly begunAt: number
  /** When the next segment began; null for the newest. */
  readonly endedAt: number | null
}

/** The number of pending deliveries of a segment and an integration. */
export interface PendingDeliveries {
  readonly segment: number
  readonly integrationAddress: string
  readonly count: number
}

/** The removable rows of one kind in a segment. */
export interface HistoryPart<Kind extends SegmentedKind = SegmentedKind> {
  /** Reads the rows in groups, oldest first. */
  rows(): AsyncIterable<readonly HistoryRows[Kind][]>
  /** Removes exactly {@link rows}; may be repeated. @throws RangeError For deliveries that still have attempts. */
  remove(): Promise<void>
}

export interface HistoryStore {
  /** All segments, oldest first; new rows belong to the last. */
  segments(): Promise<HistorySegment[]>
  /** Begins a segment. Rows of transactions that run meanwhile may still join the previous one. */
  beginSegment(): Promise<void>
  /**
   * Closes the segments up to a number: their deliveries cannot be replayed, and stay unchanged once none is pending.
   * @throws RangeError When one of these deliveries is missing, or the segment is the newest.
   */
  closeSegments(upTo: number): Promise<void>
  /** Pending deliveries of the segments up to a number: the deliveries and attempts of those segments stay. */
  pending(upTo: number): Promise<readonly PendingDeliveries[]>
  /** Marks pending deliveries of segments up to a number as exhausted, unless in flight. Resolves their number. */
  exhaustPending(upTo: number): Promise<number>
  /** The number of removable rows. An update that waits for its payment is not removable. */
  count(kind: SegmentedKind, segment: number): Promise<number>
  /** The removable rows. @throws RangeError For deliveries and attempts of a segment that is not closed. */
  part<Kind extends SegmentedKind>(kind: Kind, segment: number): Promise<HistoryPart<Kind>>
  /**
   * Stores removed rows again; stored rows stay unchanged. Deliveries and attempts need a closed segment, updates any
   * but the newest. @throws RangeError For another segment, and for a row whose payment or delivery is not stored.
   */
  restore<Kind extends SegmentedKind>(kind: Kind, segment: number, rows: readonly HistoryRows[Kind][]): Promise<void>
}

export const whole = z.int().check(z.nonnegative())
const nullableText = z.nullable(z.string())
/** The key of a row in the store. */
const rowId = z.string().check(z.regex(/^[0-9]{1,15}$/, 'expected a number as a decimal string'))

/** An attempt without the key of its delivery. */
export const attemptSchema = z.object({
  number: z.int().check(z.positive()),
  startedAt: whole,
  latencyMs: z.number(),
  status: z.nullable(whole),
  reason: nullableText,
  excerpt: nullableText,
  replay: z.boolean(),
}) satisfies z.ZodMiniType<AttemptRecord>

/** A settled update without the payment that it names. */
export const updateSchema = z.object({
  id: processorUpdateSchema.shape.id,
  /** The fingerprint of `StoredUpdate`. */
  fingerprint: z.string().check(z.regex(/^0x[0-9a-f]{32}$/, 'expected 0x and 32 hex digits')),
  outcome: z.enum(['applied', 'unchanged', 'rejected']),
  reason: nullableText,
  version: z.nullable(primitives.version),
})

const schemas = {
  attempts: z.object({ deliveryId: rowId, ...attemptSchema.shape }),
  /** A version of a payment, and its delivery. */
  deliveries: z.object({
    deliveryId: rowId,
    paymentId: rowId,
    chainId: z.int().check(z.positive()),
    txHash: primitives.txHash,
    integrationAddress: z.nullable(primitives.lowercaseAddress),
    version: primitives.version,
    createdAt: whole,
    /** Null: nobody was notified. */
    status: z.nullable(z.enum(['delivered', 'exhausted', 'superseded'])),
    body: z.string(),
  }),
  updates: z.object({
    ...updateSchema.shape,
    seq: whole,
    paymentId: z.nullable(rowId),
    /** The content of a rejected update; else null. */
    update: z.nullable(processorUpdateSchema),
  }),
  audit: z.object({
    seq: z.int().check(z.positive()),
    at: whole,
    actor: z.string(),
    // The hash chain covers the action, so an unknown action comes from another release.
    action: z.custom<AuditAction>((value) => typeof value === 'string'),
    subject: z.string(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    keyVersion: whole,
    hash: z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits')),
  }) satisfies z.ZodMiniType<AuditRecord>,
}

/** The rows of each kind, in the database and in files. */
export type HistoryRows = { readonly [Kind in keyof typeof schemas]: Readonly<z.infer<(typeof schemas)[Kind]>> }
export const rowSchemas: { readonly [Kind in HistoryKind]: z.ZodMiniType<HistoryRows[Kind]> } = schemas
export type DeliveryHistory = HistoryRows['deliveries']
export type UpdateHistory = HistoryRows['updates']

/** Kinds of history; each has its own retention. */
export type HistoryKind = keyof HistoryRows

export const headerSchema = z.object({
  kind: z.enum(['attempts', 'deliveries', 'updates', 'audit']),
  /** Number of the part, unique in its kind. */
  part: whole,
  writtenAt: whole,
})
export type ArchiveHeader = Readonly<z.infer<typeof headerSchema>>

export interface ArchivedFile {
  readonly name: string
  readonly rows: number
  /** HMAC of the content, 64 lowercase hex digits. */
  readonly hmac: string
}

/** A folder of archived history. */
export interface HistoryArchive {
  /** @throws RangeError When no file name can be made from the header. */
  create(header: ArchiveHeader): Promise<FileWriter>
  open(name: string): FileReader
}

/** How long each kind of history stays, in milliseconds; null: for ever. */
export type RetentionPolicy = Readonly<Record<HistoryKind, number | null>>

/** Expired history: the rows of one kind and period. `part`: the segment, or the first audit record. */
export interface ExpiredHistory extends Omit<ArchiveHeader, 'writtenAt'> {
  readonly rows: number
  /** 0 for the first segment. */
  readonly from: number
  readonly to: number
}

export interface HistoryPlan {
  readonly expired: readonly ExpiredHistory[]
  /** Pending deliveries: the deliveries and attempts of their segments stay. */
  readonly pending: readonly PendingDeliveries[]
}

export type RetentionProgress =
  | { readonly event: 'begun' }
  | { readonly event: 'given_up'; readonly deliveries: number }
  /** A segment has pending deliveries of an integration, so its deliveries and attempts stay. */
  | { readonly event: 'kept'; readonly pending: PendingDeliveries }
  /** The hash chain of the audit log is broken at a record, so no record is removed. */
  | { readonly event: 'audit_broken'; readonly brokenAt: number }
  | { readonly event: 'removed'; readonly history: ExpiredHistory; readonly file: ArchivedFile }

export interface RetentionOptions {
  /** Whether pending deliveries of expired segments become exhausted; else their segments stay. @default false */
  readonly givesUp?: boolean | undefined
  readonly onProgress?: ((progress: RetentionProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export type RestoredHistory = Pick<ExpiredHistory, 'kind' | 'rows'>

export interface HistoryCommands {
  /** Lists the history that {@link run} would remove now. */
  plan(policy: RetentionPolicy): Promise<HistoryPlan>
  /**
   * Archives expired history in files, then removes it: call it once a day. History leaves in whole segments, so it may
   * stay a day or a 64th of the longest retention longer, or 30 days if deliveries are kept for ever. An interrupted
   * run loses nothing: the next run writes the file again.
   * @throws StoreError `ERR_STORE_BUSY` while another run goes on, and up to a minute after a run was killed.
   * @throws RangeError For a retention below a minute. @throws TypeError When the store keeps its history for ever.
   */
  run(policy: RetentionPolicy, archive: HistoryArchive, options?: RetentionOptions): Promise<void>
  /**
   * Stores the rows of a file again; the next run removes them. Restored deliveries are shown, but cannot be replayed.
   * @throws ArchiveError `ERR_ARCHIVE` for a file that is damaged, forged or of another database: nothing is changed.
   * Also for attempts whose deliveries are not stored, and for audit records that do not end where the log begins.
   */
  restore(archive: HistoryArchive, name: string, options?: Pick<RetentionOptions, 'signal'>): Promise<RestoredHistory>
}
