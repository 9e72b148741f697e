/** Writes a file of ended history. Source: docs/retention.md, the files. @module */
import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ArchiveError } from '@payment-integration/core'
import type { ArchivedFile, ArchiveHeader, ArchiveWriter, HistoryRow } from '@payment-integration/core/ports'
import { syncPath } from '../sync-path.js'
import { archiveName } from './archive-name.js'
import { checkIsNew, fileError } from './file-faults.js'
import { formatFooter, formatHeader, formatRow } from './format-lines.js'
import { frameBytes } from './frame.js'
import { createFrameWriter, type FrameWriter } from './frame-writer.js'
import { openZstd, type Zstd } from './zstd.js'

/**
 * Begins a file. It has its name only once it is finished: until then `.partial` follows the name.
 * @param contentBytes - Content of each frame, in bytes.
 * @throws ArchiveError `ERR_ARCHIVE` when the folder is missing or may not be written to, or the name is taken.
 * @throws RangeError when the header has a value that no file may have.
 */
export async function createArchiveFile(
  folder: string,
  header: ArchiveHeader,
  contentBytes: number = frameBytes,
): Promise<ArchiveWriter> {
  const name = archiveName(header)
  const path = join(folder, name)
  await checkFolder(folder)
  const zstd = await openZstd()
  const writer = new ArchiveFile(folder, name, await createPartial(path), zstd, contentBytes)
  // Whoever creates the partial file is alone with the name: nobody else takes it after this check.
  await checkIsNew(path).catch(async (thrown) => {
    await writer.discard()
    throw thrown
  })
  await writer.append(formatHeader(header))
  return writer
}

async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'ENOENT') throw fileError(folder, 'read', thrown)
    throw new ArchiveError(folder, `The folder ${folder} for ended history does not exist. Create it.`)
  })
  if (found.isDirectory()) return
  throw new ArchiveError(folder, `${folder} is no folder. Choose a folder for ended history.`)
}

/** Readable for its owner alone: the file holds what the database holds. */
async function createPartial(path: string): Promise<FileHandle> {
  const partial = partialOf(path)
  return open(partial, 'wx', 0o600).catch((thrown) => {
    throw fileError(partial, 'written', thrown)
  })
}

/** The name of a file that is not finished. */
function partialOf(path: string): string {
  return `${path}.partial`
}

/** One call at a time. A writer that failed has removed its file. */
class ArchiveFile implements ArchiveWriter {
  readonly #folder: string
  readonly #name: string
  readonly #path: string
  readonly #handle: FileHandle
  readonly #frames: FrameWriter
  readonly #hash = createHash('sha256')
  /** The file under its name of the moment. */
  #written: string
  #rows = 0
  #bytes = 0
  #state: 'open' | 'busy' | 'finished' | 'removed' = 'open'
  #work: Promise<unknown> = Promise.resolve()

  constructor(folder: string, name: string, handle: FileHandle, zstd: Zstd, contentBytes: number) {
    this.#folder = folder
    this.#name = name
    this.#path = join(folder, name)
    this.#written = partialOf(this.#path)
    this.#handle = handle
    const onFrame = (frame: Uint8Array) => {
      this.#hash.update(frame)
      this.#bytes += frame.length
    }
    this.#frames = createFrameWriter({ handle, zstd, contentBytes, onFrame })
  }

  async write(rows: readonly HistoryRow[]): Promise<void> {
    await this.#use(async () => {
      for (const row of rows) await this.append(formatRow(row))
      this.#rows += rows.length
      this.#state = 'open'
    })
  }

  async finish(): Promise<ArchivedFile> {
    return this.#use(async () => {
      await this.append(formatFooter(this.#rows))
      await this.#frames.flush()
      await this.#handle.sync()
      await this.#handle.close()
      await rename(this.#written, this.#path)
      this.#written = this.#path
      await syncPath(this.#folder)
      this.#state = 'finished'
      return { name: this.#name, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
    })
  }

  /** Waits for a call in flight. A finished file stays. */
  async discard(): Promise<void> {
    await this.#work.catch(() => undefined)
    if (this.#state === 'open') await this.#remove()
  }

  append(line: Buffer): Promise<void> {
    return this.#frames.append(line)
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#state !== 'open')
      throw new TypeError(`${this.#path} is ${this.#state}: call a writer once at a time, and never after its end.`)
    this.#state = 'busy'
    const run = work().catch(async (thrown) => {
      await this.#remove()
      throw fileError(this.#path, 'written', thrown)
    })
    this.#work = run
    return run
  }

  async #remove(): Promise<void> {
    this.#state = 'removed'
    await this.#handle.close().catch(() => undefined)
    await rm(this.#written, { force: true }).catch(() => undefined)
  }
}
