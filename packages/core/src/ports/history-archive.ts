/** Where history goes before it is removed. Source: docs/retention.md. @module */

/** Kinds of history with a retention of their own. */
export type HistoryKind = 'attempts' | 'deliveries' | 'updates' | 'audit'

/** One row of history: a JSON object. */
export type HistoryRow = Readonly<Record<string, unknown>>

/** The first line of a file. */
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
  readonly bytes: number
  /** Lowercase hex digits. */
  readonly sha256: string
}

/** Writes one file. */
export interface ArchiveWriter {
  write(rows: readonly HistoryRow[]): Promise<void>
  /** Makes the file permanent; only then may the history be removed. */
  finish(): Promise<ArchivedFile>
  /** Removes what was written. Never rejects. */
  discard(): Promise<void>
}

/** Files of ended history. */
export interface HistoryArchive {
  create(header: ArchiveHeader): Promise<ArchiveWriter>
  /** The header first, then the rows in groups. Rejects with `ERR_ARCHIVE` for a damaged or incomplete file. */
  read(name: string): Promise<ArchiveReader>
}

/** A file that is read. */
export interface ArchiveReader {
  readonly header: ArchiveHeader
  /** All rows, in groups; may be called again. */
  rows(): AsyncIterable<readonly HistoryRow[]>
  /** Of the whole file, in lowercase hex digits. */
  sha256(): Promise<string>
}
