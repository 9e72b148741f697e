/** Reads a file of ended history. Source: docs/retention.md, the files. @module */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { ArchiveError } from '@payment-integration/core'
import type { ArchiveHeader, HistoryArchive, HistoryRow } from '@payment-integration/core/ports'
import { isHistoryKind, isPart, isTime } from './archive-name.js'
import { damaged, incomplete } from './file-faults.js'
import { archiveFormat, isPlainObject } from './format-lines.js'
import { type PlacedFrame, readFrames } from './read-frames.js'
import { createLineSplitter } from './split-lines.js'
import { openZstd, type Zstd } from './zstd.js'

/**
 * Reads the header. Each call of `rows` reads the file from its start, and keeps one frame in memory.
 * @throws ArchiveError `ERR_ARCHIVE` for a damaged or incomplete file; `rows` rejects with it too.
 */
export async function readArchive(path: string): ReturnType<HistoryArchive['read']> {
  for await (const [first = ''] of readLines(path))
    return { header: parseHeader(first, path), rows: () => readRows(path), sha256: () => hashFile(path) }
  throw incomplete(path, 'byte 0', 'it is empty')
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of createReadStream(path)) hash.update(part)
  return hash.digest('hex')
}

/** The rows between the first line and the last, which counts them. */
async function* readRows(path: string): AsyncGenerator<readonly HistoryRow[]> {
  let isHeaderRead = false
  let last: string | undefined
  let rows = 0
  for await (const lines of readLines(path)) {
    const ready = last === undefined ? lines : [last, ...lines]
    if (!isHeaderRead) ready.shift()
    isHeaderRead = true
    last = ready.pop()
    if (ready.length === 0) continue
    const before = rows
    yield ready.map((line, index) => parseObject(line, before + index + 2, path))
    rows += ready.length
  }
  checkFooter(last, rows, path)
}

function checkFooter(line: string | undefined, rows: number, path: string): void {
  const place = `line ${rows + 1}`
  if (line === undefined) throw incomplete(path, place, 'it has only its first line')
  const { rows: counted, ...others } = parseObject(line, rows + 2, path)
  if (typeof counted !== 'number' || Object.keys(others).length > 0)
    throw incomplete(path, `line ${rows + 2}`, 'this line does not count the rows, as the last one does')
  if (counted !== rows) throw damaged(path, `line ${rows + 2}`, `it counts ${counted} rows, and there are ${rows}`)
}

/** The lines of the file, in groups that end with a frame. */
export async function* readLines(path: string): AsyncGenerator<string[]> {
  const zstd = await openZstd()
  const splitter = createLineSplitter()
  let start = 0
  for await (const frame of readFrames(path)) {
    start = frame.start
    const content = decompress(zstd, frame, path)
    let lines: string[]
    try {
      lines = splitter.split(content)
    } catch (cause) {
      const reason = cause instanceof RangeError ? cause.message : 'a line is not UTF-8'
      throw damaged(path, `byte ${start}`, reason, { cause })
    }
    if (lines.length > 0) yield lines
  }
  if (splitter.isInLine()) throw incomplete(path, `the frame at byte ${start}`, 'its last line has no end')
}

function decompress(zstd: Zstd, { start, bytes }: PlacedFrame, path: string): Uint8Array {
  try {
    return zstd.decompress(bytes)
  } catch (cause) {
    const reason = `the frame that begins there, of ${bytes.length} bytes, does not match its checksum`
    throw damaged(path, `byte ${start}`, reason, { cause })
  }
}

function parseHeader(line: string, path: string): ArchiveHeader {
  const { format, kind, part, writtenAt } = parseObject(line, 1, path)
  if (Number.isSafeInteger(format) && Number(format) > archiveFormat)
    throw new ArchiveError(
      path,
      `The file ${path} has format ${format}; this release reads format ${archiveFormat}. Use the release that wrote it.`,
    )
  if (format !== archiveFormat || !isHistoryKind(kind) || !isPart(part) || !isTime(writtenAt))
    throw new ArchiveError(path, `${path} is no file of ended history: its first line is not one that begins them.`)
  return { kind, part, writtenAt }
}

/** The object of a line. @throws ArchiveError `ERR_ARCHIVE`. */
export function parseObject(line: string, number: number, path: string): HistoryRow {
  try {
    const value: unknown = JSON.parse(line)
    if (isPlainObject(value)) return value
  } catch (cause) {
    throw damaged(path, `line ${number}`, 'it is no JSON', { cause })
  }
  throw damaged(path, `line ${number}`, 'it is no JSON object')
}
