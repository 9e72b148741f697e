/** Files of ended history in a folder. Source: docs/retention.md, the files. @module */
import { basename, join, resolve } from 'node:path'
import type { HistoryArchive } from '@payment-integration/core/ports'
import { frameBytes } from './frame.js'
import { readArchive } from './read-archive.js'
import { createArchiveFile } from './write-archive.js'

/** Options of {@link createFolderArchive}. */
export interface FolderArchiveOptions {
  /** Where the files are; it must exist when the first is written. */
  readonly folder: string
  /** Content that a writer compresses at a time, in bytes: 256 to 1,048,576. @default 1_048_576 */
  readonly contentBytes?: number | undefined
}

/** Defaults of {@link FolderArchiveOptions}. */
export const folderArchiveDefaults = { contentBytes: frameBytes } as const

/**
 * Opens a folder of files.
 *
 * `read` takes the name of a file in the folder, or a path. A text with a separator, such as `./FILE`, is a path, which
 * is relative to the current folder unless it is absolute. So no name leaves the folder, and a copy may be anywhere.
 * @throws RangeError when an option is out of range.
 */
export function createFolderArchive(options: FolderArchiveOptions): HistoryArchive {
  const { contentBytes = folderArchiveDefaults.contentBytes } = options
  if (!Number.isSafeInteger(contentBytes) || contentBytes < 256 || contentBytes > frameBytes)
    throw new RangeError(`contentBytes is ${contentBytes}; pass a whole number from 256 to ${frameBytes}.`)
  const folder = resolve(options.folder)
  return {
    create: (header) => createArchiveFile(folder, header, contentBytes),
    read: (name) => readArchive(basename(name) === name ? join(folder, name) : resolve(name)),
  }
}
