/** The port to files that this service writes and reads again. Source: docs/retention.md, the files. @module */

/** Writes one file. One call at a time. */
export interface FileWriter {
  /** Its name, without a folder. */
  readonly name: string
  write(content: Uint8Array): Promise<void>
  /** Makes the file permanent: it is on its disk, under its name. */
  finish(): Promise<void>
  /** Removes an unfinished file. Never rejects. */
  discard(): Promise<void>
}

/** Reads one file. */
export interface FileReader {
  /** Names the file in messages. */
  readonly path: string
  /**
   * The content, from its beginning, in chunks of any size; may be called again. Its memory is bounded.
   * @throws ArchiveError `ERR_ARCHIVE` when the file cannot be read. The signal's reason when that is aborted.
   */
  chunks(signal?: AbortSignal): AsyncIterable<Uint8Array>
}
