/** Files of ended history for tests. @module */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivedFile, ArchiveHeader, HistoryRow } from '@payment-integration/core/ports'
import { createFolderArchive } from '../src/archive/folder-archive.js'
import { frameLength } from '../src/archive/frame.js'
import { openZstd } from '../src/archive/zstd.js'
import { seededFraction } from '../src/dev/plan.js'

/** A header, and the name of its file. */
export const header: ArchiveHeader = { kind: 'attempts', part: 12, writtenAt: Date.UTC(2026, 10, 26, 16, 25, 1, 999) }
export const headerName = 'attempts-000012-20261126T162501Z.jsonl.zst'

/** Rows whose texts hardly compress; the same for the same seed. */
export function randomRows(count: number, textLength: number, seed: number): HistoryRow[] {
  const fraction = seededFraction(seed)
  const text = () => Array.from({ length: textLength }, () => String.fromCharCode(40 + fraction() * 80)).join('')
  return Array.from({ length: count }, (_, id) => ({ id, text: text() }))
}

/** A finished file. */
export interface WrittenFile extends ArchivedFile {
  readonly path: string
  readonly content: Buffer
}

/** Writes one file of a folder. */
export async function writeFile(
  folder: string,
  groups: readonly (readonly HistoryRow[])[],
  contentBytes?: number,
): Promise<WrittenFile> {
  const writer = await createFolderArchive({ folder, contentBytes }).create(header)
  for (const rows of groups) await writer.write(rows)
  const file = await writer.finish()
  const path = join(folder, file.name)
  return { ...file, path, content: readFileSync(path) }
}

/** Everything in a file. */
export async function readFile(path: string): Promise<{ header: ArchiveHeader; groups: (readonly HistoryRow[])[] }> {
  const read = await createFolderArchive({ folder: '.' }).read(path)
  const groups: (readonly HistoryRow[])[] = []
  for await (const rows of read.rows()) groups.push(rows)
  return { header: read.header, groups }
}

/** Writes bytes to a file of the folder, and returns its path. */
export function put(folder: string, bytes: Uint8Array): string {
  const path = join(folder, 'copy.jsonl.zst')
  writeFileSync(path, bytes)
  return path
}

/** A file whose frames have these contents. */
export async function framesOf(...contents: string[]): Promise<Buffer> {
  const zstd = await openZstd()
  return Buffer.concat(contents.map((content) => zstd.compress(Buffer.from(content))))
}

/** The frames of a file. */
export function splitFrames(content: Buffer): Buffer[] {
  const length = frameLength(content)
  if (length === null) return []
  return [content.subarray(0, length), ...splitFrames(content.subarray(length))]
}
