/** Moving an integration to another cell: its rows, for stores and hosts. Source: docs/decisions/cells.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { UpdateHistory } from '../history/history-store.js'
import type { AttemptRecord } from '../notifications/delivery-store.js'
import type { PaymentStatus, StoredPayment } from '../payments/payment.js'
import type { FileReader, FileWriter } from '../ports/runtime.js'

/** Identifies a payment in every cell. */
export interface MovedPaymentKey {
  readonly chainId: number
  /** Lowercased. */
  readonly txHash: string
  readonly ordinal: number
}

/** A version of a payment, and its delivery. Times are unix milliseconds. */
export interface MovedVersion {
  readonly version: number
  /** The snapshot bytes, as text. */
  readonly body: string
  readonly createdAt: number
  /** Whether the version has a delivery. */
  readonly notified: boolean
  /** Why the delivery ended without success, or null. */
  readonly undelivered: 'exhausted' | 'superseded' | null
  /** Null: not pending. */
  readonly pending: {
    /** 0 for a first attempt, 1 for a retry, 2 for a replay. */
    readonly lane: number
    readonly dueAt: number
    readonly replayedAt: number | null
    /** Attempts so far. */
    readonly attempted: number
    /** Number of attempts when the schedule began. */
    readonly scheduleFrom: number
  } | null
  readonly attempts: readonly (AttemptRecord & { readonly number: number })[]
}

/** The part of a payment that only the cell of its integration stores. */
export interface MovedPayment extends MovedPaymentKey {
  readonly blockNumber: number
  readonly status: PaymentStatus
  readonly dropped: StoredPayment['dropped']
  /** Ascending. Versions that retention removed are missing. */
  readonly versions: readonly MovedVersion[]
}

export interface StoredMove extends MovedPayment {
  readonly id: string
  readonly integrationAddress: string | null
  /** Versions of archived history, which stay unchanged. */
  readonly closed: readonly number[]
}

/** An update that was decided on a payment of the integration. */
export interface MovedUpdate
  extends MovedPaymentKey,
    Pick<UpdateHistory, 'id' | 'fingerprint' | 'outcome' | 'reason' | 'version'> {
  /** The content of a rejected update; else null. */
  readonly content: ProcessorUpdate | null
}

export interface UpdatePage {
  readonly decided: readonly MovedUpdate[]
  /** Waiting updates that name this integration or no integration. */
  readonly waiting: readonly ProcessorUpdate[]
}

/** A stored version that notifies nobody. */
export interface UnnotifiedVersion extends MovedPaymentKey {
  /** Id of the snapshot. */
  readonly id: string
  readonly version: number
}

export interface MoveStore {
  /** Primary payments that name the integration, in pages, each read consistently. */
  payments(address: string): AsyncIterable<readonly MovedPayment[]>
  /** The decided updates of these payments, and waiting updates. */
  updates(address: string): AsyncIterable<UpdatePage>
  /** Versions of these payments that notify nobody, in pages, without archived history. */
  unnotified(address: string): AsyncIterable<readonly UnnotifiedVersion[]>
  countLeased(address: string): Promise<number>
  /** Resolves a function that resolves true once all transactions that are writing at this call have ended. */
  runningWriters(): Promise<() => Promise<boolean>>
  /** Runs `work` in one transaction; again when the database reports a conflict. */
  transaction<T>(work: (tx: MoveTransaction) => Promise<T>): Promise<T>
}

export interface MoveTransaction {
  /** The primary payments under these keys, locked. */
  find(keys: readonly MovedPaymentKey[]): Promise<readonly StoredMove[]>
  /** Replaces status, drop mark, versions, attempts and pending deliveries. Closed versions stay. */
  replace(address: string, payments: readonly { readonly id: string; readonly moved: MovedPayment }[]): Promise<void>
  /** Stores updates. One with a stored id and fingerprint replaces the stored outcome. Resolves the written ids. */
  putUpdates(address: string, updates: readonly MovedUpdate[]): Promise<readonly string[]>
  /** Adds a delivery that is due now to each version without one. Resolves their number. */
  notify(address: string, snapshotIds: readonly string[]): Promise<number>
}

export interface ExportedIntegration {
  /** HMAC of the content, 64 lowercase hex digits. */
  readonly hmac: string
  readonly payments: number
  readonly deliveries: number
  readonly updates: number
  /** Updates that wait for their payment. */
  readonly waiting: number
}

export interface ImportedIntegration {
  readonly address: string
  readonly hmac: string
  /** Payments that this run stored, without those of an earlier run. */
  readonly payments: number
  /** Dropped payments of the file that are not stored in this cell. */
  readonly left: number
  readonly updates: number
  /** Deliveries of versions that the file does not have. */
  readonly added: number
}

export interface MoveCommands {
  /**
   * Disables an integration, waits until none of its deliveries is in flight, and writes its file. Repeat it after a
   * failure.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, or `ERR_INTEGRATION_CHANGED` when it was enabled meanwhile;
   * MoveError `ERR_MOVE_UNSUPPORTED`; errors of the file.
   */
  export(
    address: string,
    create: () => Promise<FileWriter>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ExportedIntegration>
  /**
   * Stores the integration of a file, and enables it at the end. Repeat it after a failure: it continues.
   * @throws ArchiveError `ERR_ARCHIVE` when this service's master keys did not sign the file; nothing was changed then.
   * IntegrationError `ERR_INTEGRATION_EXISTS` when it is enabled here; MoveError; InvalidRequestError for a name or a
   * URL.
   */
  import(file: FileReader, options?: { readonly signal?: AbortSignal | undefined }): Promise<ImportedIntegration>
}
