/** Writes and reads files of text, compressed by gzip. Source: docs/retention.md, the files. @module */
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { ArchiveError } from '@payment-integration/core'
import type { FileReader, FileWriter } from '@payment-integration/core/ports'
import { syncPath } from '../sync-path.js'
import { checkIsNew, fileError } from './file-faults.js'

const compress = promisify(gzip)

/**
 * Begins a file. It has its name only once it is finished: until then `.partial` follows the name. Only its owner may
 * read it: it holds what the database holds.
 * @throws ArchiveError `ERR_ARCHIVE` when the name is taken, or the file cannot be written.
 */
export async function createGzipFile(path: string): Promise<FileWriter> {
  const partial = `${path}.partial`
  const described = async <T>(work: () => Promise<T>, what = path): Promise<T> => {
    try {
      return await work()
    } catch (thrown) {
      throw fileError(what, 'written', thrown)
    }
  }
  const handle = await described(() => open(partial, 'wx', 0o600), partial)
  async function discard(): Promise<void> {
    await handle.close().catch(() => undefined)
    await rm(partial, { force: true }).catch(() => undefined)
  }
  // The creator of the partial file is alone with the name: nobody else takes it after this check.
  await checkIsNew(path).catch(async (thrown) => {
    await discard()
    throw thrown
  })
  return {
    name: basename(path),
    // Each call makes a member of its own, and gzip files are members one after the other.
    write: (content) => described(async () => handle.writeFile(await compress(content))),
    finish: () =>
      described(async () => {
        await handle.sync()
        await handle.close()
        await rename(partial, path)
        await syncPath(dirname(path))
      }),
    discard,
  }
}

/** A file of {@link createGzipFile}. It is opened when it is read. */
export function openGzipFile(path: string): FileReader {
  return {
    path,
    async *chunks(signal) {
      try {
        await checkIsFile(path)
        const content = createGunzip({ chunkSize: 65_536 })
        // The content ends with the same error.
        void pipeline(createReadStream(path), content, { signal }).catch(() => undefined)
        yield* content as AsyncIterable<Uint8Array>
      } catch (thrown) {
        signal?.throwIfAborted()
        throw described(path, thrown)
      }
    },
  }
}

/** A folder, a pipe or a device could make a reader wait for ever. */
async function checkIsFile(path: string): Promise<void> {
  const found = await stat(path)
  if (found.isDirectory()) throw new ArchiveError(path, `${path} is a folder. Pass a file.`)
  if (!found.isFile()) throw new ArchiveError(path, `${path} is no regular file. Pass a file.`)
}

function described(path: string, thrown: unknown): unknown {
  const { code } = thrown as NodeJS.ErrnoException
  if (code?.startsWith('Z_') !== true) return fileError(path, 'read', thrown)
  const message = `${path} is no whole gzip file: it is damaged, incomplete or of another kind. Take another copy of it.`
  return new ArchiveError(path, message, { cause: thrown })
}
