/** The error of a file of ended history. @module */
import { CoreError } from '../errors.js'

/** A file of ended history is damaged, or cannot be written or read. The message names it and the place. */
export class ArchiveError extends CoreError {
  override readonly name = 'ArchiveError'
  readonly code = 'ERR_ARCHIVE'
  readonly retryable = false
  /** The path of the file, or of the folder that it belongs to. */
  readonly path: string
  constructor(path: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.path = path
  }
}
