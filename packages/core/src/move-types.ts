/** The types of moving an integration to another cell. Source: docs/decisions/cells.md. @module */
import type { FileReader, FileWriter } from './ports/files.js'

/** What a file has. */
export interface ExportedIntegration {
  /** Of the content: 64 lowercase hex digits. */
  readonly hmac: string
  readonly payments: number
  /** Pending deliveries. */
  readonly deliveries: number
  readonly updates: number
  /** Updates that wait for their payment. */
  readonly waiting: number
}

/** What an import did. */
export interface ImportedIntegration {
  readonly address: string
  readonly hmac: string
  /** Payments that this run stored; those of an earlier run are not counted. */
  readonly payments: number
  /** Dropped payments of the file that this cell never saw. */
  readonly left: number
  readonly updates: number
  /** Deliveries of versions that the file does not have. */
  readonly added: number
}

/** Moves an integration from cell to cell. */
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
   * IntegrationError `ERR_INTEGRATION_EXISTS` when it is enabled here; MoveError; BadRequestError for a name or a URL.
   */
  import(file: FileReader, options?: { readonly signal?: AbortSignal | undefined }): Promise<ImportedIntegration>
}
