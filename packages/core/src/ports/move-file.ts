/** The file that carries an integration to another cell. Source: docs/decisions/cells.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { IntegrationRecord } from './store-integrations.js'
import type { MovedPayment, MovedUpdate } from './store-moves.js'

/** One row of the file. */
export type MoveRow =
  | { readonly payment: MovedPayment }
  | { readonly update: MovedUpdate }
  | { readonly waiting: ProcessorUpdate }

/** A finished file. */
export interface MoveSummary {
  /** Of the content: lowercase hex digits. */
  readonly sha256: string
  readonly rows: number
}

/** Writes one file. */
export interface MoveWriter {
  write(rows: readonly MoveRow[]): Promise<void>
  /** Makes the file permanent. */
  finish(): Promise<MoveSummary>
  /** Removes an unfinished file. Never rejects. */
  discard(): Promise<void>
}

/** A file that is read. */
export interface MoveReader {
  readonly integration: IntegrationRecord
  /** Reads the whole file. @throws ArchiveError `ERR_ARCHIVE` when its content has another digest than its end says. */
  check(): Promise<MoveSummary>
  /** All rows, in groups; may be called again. */
  rows(): AsyncIterable<readonly MoveRow[]>
}
