/** Writes the file that carries an integration to another cell. Source: docs/decisions/cells.md. @module */
import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { HistoryRow, IntegrationRecord, MoveWriter } from '@payment-integration/core/ports'
import { checkIsNew, fileError } from '../archive/file-faults.js'
import { formatRow } from '../archive/format-lines.js'
import { frameBytes } from '../archive/frame.js'
import { createFrameWriter } from '../archive/frame-writer.js'
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
  await checkIsNew(path)
  await rm(partial, { force: true }).catch((thrown) => {
    throw described(thrown)
  })
  const handle = await open(partial, 'wx', 0o600).catch((thrown) => {
    throw described(thrown)
  })
  const frames = createFrameWriter({ handle, zstd: await openZstd(), contentBytes: frameBytes })
  const hash = createHash('sha256')
  let rows = 0
  const attempt = <T>(work: Promise<T>): Promise<T> =>
    work.catch((thrown) => {
      throw described(thrown)
    })
  const append = async (row: HistoryRow) => {
    const line = formatRow(row)
    hash.update(line)
    await attempt(frames.append(line))
  }
  await append({ format: moveFormat, integration })
  return {
    async write(given) {
      for (const row of given) await append(row)
      rows += given.length
    },
    async finish() {
      const sha256 = hash.digest('hex')
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
