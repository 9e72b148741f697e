/** Files of ended history in a folder. Source: docs/retention.md, the files. @module */
import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { ArchiveError } from '@payment-integration/core'
import type { ArchiveHeader, HistoryArchive } from '@payment-integration/core/ports'
import { fileError } from './file-faults.js'
import { createGzipFile, openGzipFile } from './gzip-file.js'

/**
 * Opens a folder of files. It must exist when the first is written.
 *
 * `open` takes the name of a file in the folder, or a path. A text with a separator, such as `./FILE`, is a path, which
 * is relative to the current folder unless it is absolute. So no name leaves the folder, and a copy may be anywhere.
 */
export function createFolderArchive(options: { readonly folder: string }): HistoryArchive {
  const folder = resolve(options.folder)
  return {
    async create(header) {
      await checkFolder(folder)
      return createGzipFile(join(folder, archiveName(header)))
    },
    open: (name) => openGzipFile(basename(name) === name ? join(folder, name) : resolve(name)),
  }
}

async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'ENOENT') throw fileError(folder, 'read', thrown)
    throw new ArchiveError(folder, `The folder ${folder} for ended history does not exist. Create it.`)
  })
  if (found.isDirectory()) return
  throw new ArchiveError(folder, `${folder} is no folder. Choose a folder for ended history.`)
}

/** Such as `attempts-000012-20261126T162501Z.jsonl.gz`. */
function archiveName({ kind, part, writtenAt }: ArchiveHeader): string {
  const second = new Date(writtenAt).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)
  return `${kind}-${String(part).padStart(6, '0')}-${second.replace(/[-:]/g, '')}Z.jsonl.gz`
}
