/** Where history goes before it is removed. Source: docs/retention.md. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type { FileReader, FileWriter } from './files.js'
import type { AuditRecord } from './store-audit.js'
import type { AttemptRecord, DeliveryStatus } from './store-deliveries.js'

/** A version of a payment, and its delivery. */
export interface DeliveryHistory {
  readonly deliveryId: string
  readonly paymentId: string
  readonly chainId: number
  readonly txHash: string
  readonly integrationAddress: string | null
  readonly version: number
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Null: nobody was notified. */
  readonly status: Exclude<DeliveryStatus, 'pending' | 'missing'> | null
  /** The snapshot bytes, as text. */
  readonly body: string
}

/** An attempt of a delivery. */
export interface AttemptHistory extends AttemptRecord {
  readonly deliveryId: string
  readonly number: number
}

/** A decided update of a processor. */
export interface UpdateHistory {
  readonly seq: number
  readonly id: string
  readonly paymentId: string | null
  readonly version: number | null
  /** As `StoredUpdate` has it. */
  readonly fingerprint: string
  readonly outcome: Exclude<UpdateOutcome, 'waiting'>
  readonly reason: string | null
  /** Present when it was refused. */
  readonly update: ProcessorUpdate | null
}

/** The rows of each kind of history. */
export interface HistoryRows {
  readonly attempts: AttemptHistory
  readonly deliveries: DeliveryHistory
  readonly updates: UpdateHistory
  readonly audit: AuditRecord
}

/** Kinds of history with a retention of their own. */
export type HistoryKind = keyof HistoryRows

/** What a file of history is of. */
export interface ArchiveHeader {
  readonly kind: HistoryKind
  /** The part of the history, a number that names it in its kind. */
  readonly part: number
  /** Unix milliseconds. */
  readonly writtenAt: number
}

/** A file that was written and is safe on its disk. */
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
