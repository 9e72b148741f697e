/** Moving an integration to another cell: its rows, store and commands. Source: docs/decisions/cells.md. @module */
import { processorUpdateSchema } from '@payment-integration/contract'
import { primitives, snapshotWriteSchema } from '@payment-integration/contract/internal'
import * as z from 'zod/mini'
import { CodedError, type MoveErrorCode } from '../errors.js'
import { attemptSchema, updateSchema, whole } from '../history/history-store.js'
import type { FileReader, FileWriter } from '../ports/runtime.js'
import type { IntegrationRecord, UnrecordedRange } from './integration.js'

/** An integration cannot be moved. The message names the payment, update or key, and the remedy. */
export class MoveError extends CodedError<MoveErrorCode> {
  override readonly name = 'MoveError'
  /** With `ERR_MOVE_UNRECORDED`: the blocks to read again, by chain. */
  readonly unrecorded: readonly UnrecordedRange[]
  constructor(code: MoveErrorCode, message: string, unrecorded: readonly UnrecordedRange[] = []) {
    super(code, message)
    this.unrecorded = unrecorded
  }
}

const secretHash = { keyVersion: whole, hash: z.string().check(z.regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits')) }
const sealedSecret = { keyVersion: whole, sealed: z.string().check(z.regex(/^[A-Za-z0-9_-]+$/, 'expected base64url')) }

/** The first line of a file. */
export const moveHeaderSchema = z.object({
  integration: z.object({
    address: primitives.lowercaseAddress,
    name: z.string(),
    notificationUrl: z.nullable(z.string()),
    enabled: z.boolean(),
    apiSecret: z.nullable(z.object(secretHash)),
    previousApiSecret: z.nullable(z.object({ ...secretHash, until: whole })),
    signingSecret: z.object(sealedSecret),
    preparedSigningSecret: z.nullable(z.object(sealedSecret)),
    previousSigningSecret: z.nullable(z.object({ ...sealedSecret, until: whole })),
    createdAt: whole,
  }) satisfies z.ZodMiniType<IntegrationRecord>,
})

/** Identifies a payment in every cell. */
const paymentKey = z.object({ chainId: z.int().check(z.positive()), txHash: primitives.txHash, ordinal: whole })

/** A version of a payment, and its delivery. Times are unix milliseconds. */
const movedVersion = z.object({
  version: primitives.version,
  /** The snapshot bytes, as text. */
  body: z.string(),
  createdAt: whole,
  /** Whether the version has a delivery. */
  notified: z.boolean(),
  /** Why the delivery ended without success, or null. */
  undelivered: z.nullable(z.enum(['exhausted', 'superseded'])),
  /** Null: not pending. */
  pending: z.nullable(
    z.object({
      /** 0 for a first attempt, 1 for a retry, 2 for a replay. */
      lane: z.int().check(z.minimum(0), z.maximum(2)),
      dueAt: whole,
      replayedAt: z.nullable(whole),
      /** Attempts so far. */
      attempted: whole,
      /** Number of attempts when the schedule began. */
      scheduleFrom: whole,
    }),
  ),
  attempts: z.array(attemptSchema),
})

const { state, recipient, invoice } = snapshotWriteSchema.shape

/** The part of a payment that only the cell of its integration stores. */
const movedPayment = z.object({
  ...paymentKey.shape,
  blockNumber: whole,
  status: z.object({ version: primitives.version, state, recipient, invoice }),
  dropped: z.nullable(z.object({ formerState: state })),
  /** Ascending. Versions that retention removed are missing. */
  versions: z.array(movedVersion),
})

/** An update that was decided on a payment of the integration. */
const movedUpdate = z.object({
  ...paymentKey.shape,
  ...updateSchema.shape,
  /** The content of a rejected update; else null. */
  content: z.nullable(processorUpdateSchema),
})

const moveRow = z.union([
  z.object({ payment: movedPayment }),
  z.object({ update: movedUpdate }),
  /** An update that waits for its payment, and names this integration or no integration. */
  z.object({ waiting: processorUpdateSchema }),
])

/** A further line of a file. */
export type MoveRow = Readonly<z.infer<typeof moveRow>>
export const moveRowSchema: z.ZodMiniType<MoveRow> = moveRow

/** The transaction hash is lowercased. */
export type MovedPaymentKey = Readonly<z.infer<typeof paymentKey>>
export type MovedVersion = Readonly<z.infer<typeof movedVersion>>
export type MovedPayment = Readonly<z.infer<typeof movedPayment>>
export type MovedUpdate = Readonly<z.infer<typeof movedUpdate>>

/** A payment as this cell stores it, to compare with the one in the file. */
export interface StoredMove extends MovedPayment {
  readonly id: string
  readonly integrationAddress: string | null
  /** Versions in closed segments of the history, which stay unchanged. */
  readonly closed: readonly number[]
}

/** A stored version without a delivery. */
export interface UnnotifiedVersion extends MovedPaymentKey {
  /** Id of the snapshot. */
  readonly id: string
  readonly version: number
}

export interface MoveStore {
  /** Primary payments that name the integration, in pages, each read consistently. */
  payments(address: string): AsyncIterable<readonly MovedPayment[]>
  /** The decided updates of these payments, and waiting updates that name this integration or no integration. */
  updates(address: string): AsyncIterable<readonly MoveRow[]>
  /** Versions of these payments without a delivery, in pages, except those in closed segments of the history. */
  unnotified(address: string): AsyncIterable<readonly UnnotifiedVersion[]>
  countLeased(address: string): Promise<number>
  /** Resolves a check: whether all transactions that are writing at this call have ended. */
  createWritersEndedCheck(): Promise<() => Promise<boolean>>
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

/** `payments`, `updates`: only those of this run. */
export interface ImportedIntegration extends Pick<ExportedIntegration, 'hmac' | 'payments' | 'updates'> {
  readonly address: string
  /** Dropped payments of the file that are not stored in this cell. */
  readonly skipped: number
  /** Deliveries of versions that the file does not have. */
  readonly added: number
}

export interface MoveCommands {
  /**
   * Disables an integration, waits for its deliveries in flight, and writes its file. Repeat it after a failure.
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
   * IntegrationError `ERR_INTEGRATION_EXISTS` when it is enabled here; MoveError; InvalidParameterError: name or URL.
   */
  import(file: FileReader, options?: { readonly signal?: AbortSignal | undefined }): Promise<ImportedIntegration>
}
