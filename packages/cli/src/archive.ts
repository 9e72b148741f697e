/** Writes exports; writes and reads gzip files of history and of moved integrations: docs/retention.md. @module */
import { createReadStream } from 'node:fs'
import { lstat, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { ArchiveError } from '@payment-integration/core'
import type { ArchiveHeader } from '@payment-integration/core/internal'
import type { FileReader, FileWriter, HistoryArchive } from '@payment-integration/core/ports'
import { syncPath } from './files.js'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied. Change the permissions of the folder, or run as its owner',
  EDQUOT: "the user's disk quota is used up. Free some space, then run the command again",
  EEXIST: 'it already exists. An interrupted command may have left it; remove it if no command is running',
  EFBIG: 'the file system does not allow files of this size',
  EIO: 'the disk reports an error. Check the disk before you delete anything',
  EISDIR: 'it is a folder. Pass a file',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full. Free some space, then run the command again',
  ENOTDIR: 'a part of its path is not a folder',
  EPERM: 'the system does not permit it. Check the permissions of the folder',
  EROFS: 'the file system is read-only',
}

/** Describes an error of the file system. Other errors pass unchanged. */
function toFileError(path: string, action: 'written' | 'read', thrown: unknown): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (code === '' || code.startsWith('ERR_')) return thrown
  const reason = reasons[code] ?? `the system reports ${code}`
  return new ArchiveError(path, `The file ${path} cannot be ${action}: ${reason}.`, { cause: thrown })
}

const compress: (content: Uint8Array) => Promise<Uint8Array> = promisify(gzip)

/**
 * Begins a file, whose name ends in `.partial` until the file is finished. Only the owner may read it, as it holds data
 * of the database.
 * @throws ArchiveError `ERR_ARCHIVE` when the name is taken, or the file cannot be written.
 */
export async function createFile(path: string, encode = async (content: Uint8Array) => content): Promise<FileWriter> {
  const partial = `${path}.partial`
  const withFileErrors = async <T>(work: () => Promise<T>, failedPath = path): Promise<T> => {
    try {
      return await work()
    } catch (thrown) {
      throw toFileError(failedPath, 'written', thrown)
    }
  }
  const handle = await withFileErrors(() => open(partial, 'wx', 0o600), partial)
  async function discard(): Promise<void> {
    await handle.close().catch(() => undefined)
    await rm(partial, { force: true }).catch(() => undefined)
  }
  // The existing partial file reserves the name: no other run can take it after this check.
  if ((await lstat(path).catch(() => null)) !== null) {
    await discard()
    throw new ArchiveError(path, `The file ${path} already exists, and is never overwritten.`)
  }
  return {
    name: basename(path),
    write: (content) => withFileErrors(async () => handle.writeFile(await encode(content))),
    finish: () =>
      withFileErrors(async () => {
        await handle.sync()
        await handle.close()
        await rename(partial, path)
        await syncPath(dirname(path))
      }),
    discard,
  }
}

/** Begins a gzip file. Each write becomes a member of its own: gzip allows any number of members. */
export const createGzipFile = (path: string): Promise<FileWriter> => createFile(path, compress)

export function openGzipFile(path: string): FileReader {
  return {
    path,
    async *chunks(signal) {
      try {
        await checkIsFile(path)
        const content = createGunzip({ chunkSize: 65_536 })
        // The loop over the content throws the same error.
        void pipeline(createReadStream(path), content, { signal }).catch(() => undefined)
        yield* content as AsyncIterable<Uint8Array>
      } catch (thrown) {
        signal?.throwIfAborted()
        throw toReadError(path, thrown)
      }
    },
  }
}

/** Rejects folders, and pipes and devices, which could block a reader forever. */
async function checkIsFile(path: string): Promise<void> {
  const info = await stat(path)
  if (info.isDirectory()) throw new ArchiveError(path, `${path} is a folder. Pass a file.`)
  if (!info.isFile()) throw new ArchiveError(path, `${path} is not a regular file. Pass a file.`)
}

function toReadError(path: string, thrown: unknown): unknown {
  const { code } = thrown as NodeJS.ErrnoException
  if (code?.startsWith('Z_') !== true) return toFileError(path, 'read', thrown)
  const message = `${path} is not a complete gzip file: it is damaged, truncated or of another type. Use another copy.`
  return new ArchiveError(path, message, { cause: thrown })
}

/**
 * Opens a folder of archive files. The folder must exist when the first file is written.
 * `open` takes the name of a file in the folder, or a path. Any text with a separator, such as `./FILE`, is a path, and
 * relative to the current folder unless absolute. So a name never leads outside the folder, yet a copy may be anywhere.
 */
export function createFolderArchive(options: { readonly folder: string }): HistoryArchive {
  const folder = resolve(options.folder)
  return {
    async create(header) {
      await checkFolder(folder)
      return createGzipFile(join(folder, formatArchiveName(header)))
    },
    open: (name) => openGzipFile(basename(name) === name ? join(folder, name) : resolve(name)),
  }
}

async function checkFolder(folder: string): Promise<void> {
  const info = await stat(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'ENOENT') throw toFileError(folder, 'read', thrown)
    throw new ArchiveError(folder, `The folder ${folder} for archived history does not exist. Create it.`)
  })
  if (info.isDirectory()) return
  throw new ArchiveError(folder, `${folder} is not a folder. Choose a folder for archived history.`)
}

/** Formats a file name such as `attempts-000012-20261126T162501Z.jsonl.gz`. */
function formatArchiveName({ kind, part, writtenAt }: ArchiveHeader): string {
  const second = new Date(writtenAt).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)
  return `${kind}-${String(part).padStart(6, '0')}-${second.replace(/[-:]/g, '')}Z.jsonl.gz`
}
