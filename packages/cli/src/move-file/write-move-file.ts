/** Writes the file that carries an integration to another cell. Source: docs/decisions/cells.md. @module */
import { createHash } from 'node:crypto'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ArchiveError } from '@payment-integration/core'
import type { IntegrationRecord, MoveWriter } from '@payment-integration/core/ports'
import { fileError } from '../archive/file-faults.js'
import { formatRow } from '../archive/format-lines.js'
import { frameBytes } from '../archive/frame.js'
import { openZstd } from '../archive/zstd.js'
import { syncPath } from '../sync-path.js'

/** The format that this release writes and reads. */
export const moveFormat = 1

/**
 * Begins a file: lines of JSON in zstd frames, the integration first, the digest of all lines before it last. Until it
 * is finished, `.partial` follows its name; a partial file of an interrupted export is replaced. Only its owner may
 * read it: it has sealed secrets and payments.
 * @throws ArchiveError `ERR_ARCHIVE` when the name is taken, or the file cannot be written.
 */
export async function createMoveFile(path: string, integration: IntegrationRecord): Promise<MoveWriter> {
  const partial = `${path}.partial`
  const described = (thrown: unknown) => fileError(path, 'written', thrown)
  if (await exists(path)) throw new ArchiveError(path, `The file ${path} exists already, and is never overwritten.`)
  await rm(partial, { force: true }).catch((thrown) => {
    throw described(thrown)
  })
  const handle = await open(partial, 'wx', 0o600).catch((thrown) => {
    throw described(thrown)
  })
  const frames = await frameWriter(handle)
  let rows = 0
  const attempt = <T>(work: Promise<T>): Promise<T> =>
    work.catch((thrown) => {
      throw described(thrown)
    })
  await attempt(frames.append(formatRow({ format: moveFormat, integration })))
  return {
    async write(given) {
      for (const row of given) await attempt(frames.append(formatRow(row)))
      rows += given.length
    },
    async finish() {
      const sha256 = frames.digest()
      await attempt(frames.append(formatRow({ rows, sha256 })))
      await attempt(frames.flush())
      await attempt(handle.sync())
      await handle.close()
      await attempt(rename(partial, path))
      await attempt(syncPath(dirname(path)))
      return { sha256, rows }
    },
    async discard() {
      await handle.close().catch(() => undefined)
      await rm(partial, { force: true }).catch(() => undefined)
    },
  }
}

async function frameWriter(handle: FileHandle) {
  const zstd = await openZstd()
  const hash = createHash('sha256')
  const content = Buffer.alloc(frameBytes)
  let used = 0
  async function flush(): Promise<void> {
    if (used === 0) return
    const frame = zstd.compress(content.subarray(0, used))
    used = 0
    await handle.writeFile(frame)
  }
  return {
    flush,
    digest: () => hash.copy().digest('hex'),
    async append(line: Buffer): Promise<void> {
      hash.update(line)
      for (let rest = line; rest.length > 0; ) {
        const copied = rest.copy(content, used)
        used += copied
        rest = rest.subarray(copied)
        if (used === content.length) await flush()
      }
    },
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
