/** Writes and reads files that only a holder of the master key can have written. Source: docs/retention.md. @module */
import { createHash, createHmac, type Hmac, timingSafeEqual } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { parseForeignJson } from '@payment-integration/contract/internal-io'
import type * as z from 'zod/mini'
import { CodedError } from '../errors.js'
import type { FileReader, FileWriter } from '../ports/runtime.js'
import type { MasterKey } from './keys.js'

/** A signed file is damaged, or cannot be written or read. The message names the file and the place. */
export class ArchiveError extends CodedError<'ERR_ARCHIVE'> {
  override readonly name = 'ArchiveError'
  /** The path of the file, or of the folder that it belongs to. */
  readonly path: string
  constructor(path: string, message: string, options?: ErrorOptions) {
    super('ERR_ARCHIVE', message, options)
    this.path = path
  }
}

/** The format that this release writes and reads. */
const format = 2
/** The longest line, in bytes: it bounds the memory of a reader. No row of the service comes near it. */
const maxLineBytes = 67_108_864
/** Bytes that are verified and returned at a time. */
const blockBytes = 262_144

/** The purpose of a file; one purpose never passes for another. */
type FilePurpose = 'move-file' | 'archive-file'

const formatFooter = (hmac: string) => Buffer.from(`{"hmac":"${hmac}"}\n`)
const footerBytes = formatFooter('0'.repeat(64)).length
const lineFeed = 0x0a

export type SignedWriter = Awaited<ReturnType<typeof beginSignedFile>>

/** Begins a file; the caller discards it if it is not finished. RangeError: a row is longer than a reader accepts. */
export async function beginSignedFile(keys: MasterKey, purpose: FilePurpose, file: FileWriter, header: object) {
  const hmac = createHmac('sha256', keys.current.derive(purpose))
  let rows = 0
  async function write(values: readonly object[]): Promise<void> {
    const lines = values.map((value) => Buffer.from(`${JSON.stringify(value)}\n`))
    if (lines.some(({ length }) => length > maxLineBytes))
      throw new RangeError(`A row of ${file.name} has more than ${maxLineBytes} bytes.`)
    const content = Buffer.concat(lines)
    hmac.update(content)
    await file.write(content)
  }
  await write([{ format, keyVersion: keys.current.version, ...header }])
  return {
    async write(values: readonly object[]): Promise<void> {
      if (values.length > 0) await write(values)
      rows += values.length
    },
    /** Writes the HMAC as the last line, and makes the file permanent. */
    async finish() {
      const digest = hmac.digest('hex')
      await file.write(formatFooter(digest))
      await file.finish()
      return { rows, hmac: digest }
    },
  }
}

/** A file whose HMAC is right. */
export interface SignedFile {
  readonly hmac: string
  /** The first line, without format and key. @throws ArchiveError `ERR_ARCHIVE` when it has another shape. */
  header<T>(schema: z.ZodMiniType<T>): Promise<T>
  /** In groups; may be called again. A file that was changed since it was checked is rejected. */
  rows<T>(schema: z.ZodMiniType<T>): AsyncIterable<readonly T[]>
}

/** Reads a whole file and verifies its HMAC. Nothing is parsed before that, so a foreign file costs one read. */
export async function openSignedFile(
  keys: MasterKey,
  purpose: FilePurpose,
  file: FileReader,
  signal?: AbortSignal,
): Promise<SignedFile> {
  const createUnsignedError = () =>
    new ArchiveError(
      file.path,
      `${file.path} is not a whole file that a service with this master key wrote: its HMAC is wrong or missing. Nothing of it was stored. Take another copy of the file.`,
    )
  const digests: Buffer[] = []
  let [hmac, lastBytes, size]: [Hmac | null, Buffer, number] = [null, Buffer.alloc(0), 0]
  for await (const block of readBlocks(file, signal)) {
    hmac ??= createFileHmac(keys, purpose, block, file.path)
    if (hmac === null) throw createUnsignedError()
    digests.push(computeDigest(block))
    size += block.length
    const content = Buffer.concat([lastBytes, block])
    const end = Math.max(0, content.length - footerBytes)
    hmac.update(content.subarray(0, end))
    lastBytes = content.subarray(end)
  }
  const digest = hmac?.digest('hex')
  const expected = digest === undefined ? null : formatFooter(digest)
  if (digest === undefined || expected?.length !== lastBytes.length || !timingSafeEqual(expected, lastBytes))
    throw createUnsignedError()

  const readFileLines = () => readLines(file, digests, size - footerBytes, signal)
  const parse = <T>(schema: z.ZodMiniType<T>, line: Uint8Array, number: number): T => {
    const parsed = schema.safeParse(parseLine(line))
    if (parsed.success) return parsed.data
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: 'invalid' }
    throw new ArchiveError(
      file.path,
      `Line ${number} of ${file.path} has another shape than this release writes: ${[...path, message].join(' ')}.`,
    )
  }
  return {
    hmac: digest,
    async header(schema) {
      for await (const [first] of readFileLines()) if (first !== undefined) return parse(schema, first, 1)
      throw createUnsignedError()
    },
    async *rows(schema) {
      let number = 0
      for await (const group of readFileLines()) {
        const rows = number === 0 ? group.slice(1) : group
        const before = number + group.length - rows.length
        number += group.length
        if (rows.length > 0) yield rows.map((line, index) => parse(schema, line, before + index + 1))
      }
    },
  }
}

/** Undefined, which no schema accepts, unless the line is JSON within the limits. */
function parseLine(line: Uint8Array): unknown {
  try {
    return parseForeignJson(line)
  } catch {
    return undefined
  }
}

/** Null: the block is not the beginning of a signed file. @throws ArchiveError `ERR_ARCHIVE`. */
function createFileHmac(keys: MasterKey, purpose: FilePurpose, block: Buffer, path: string): Hmac | null {
  const [, fileFormat, keyVersion] =
    /^\{"format":(\d{1,9}),"keyVersion":(\d{1,10}),/.exec(block.toString('latin1', 0, 64)) ?? []
  if (fileFormat === undefined) return null
  if (Number(fileFormat) !== format)
    throw new ArchiveError(path, `${path} has format ${fileFormat}, and this release reads format ${format}.`)
  const key = keys.find(Number(keyVersion))
  if (key !== undefined) return createHmac('sha256', key.derive(purpose))
  throw new ArchiveError(
    path,
    `${path} needs master key ${keyVersion}, which is not configured here. List it behind the newest in PI_MASTER_KEY.`,
  )
}

const computeDigest = (block: Uint8Array): Buffer => createHash('sha256').update(block).digest()

/** Reads the content in blocks of one size, except the last. Other work of the process runs between two blocks. */
async function* readBlocks(file: FileReader, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  let [chunks, size]: [Uint8Array[], number] = [[], 0]
  for await (const chunk of file.chunks(signal)) {
    signal?.throwIfAborted()
    chunks.push(chunk)
    size += chunk.length
    if (size < blockBytes) continue
    let content = Buffer.concat(chunks)
    for (; content.length >= blockBytes; content = content.subarray(blockBytes)) {
      yield content.subarray(0, blockBytes)
      await setImmediate()
      signal?.throwIfAborted()
    }
    chunks = [content]
    size = content.length
  }
  if (size > 0) yield Buffer.concat(chunks)
}

/** The lines of the first `size` bytes, in groups. `digests`: hashes of the blocks whose HMAC was verified. */
async function* readLines(
  file: FileReader,
  digests: readonly Buffer[],
  size: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Buffer[]> {
  let [index, remainingBytes, partialLine, partialBytes]: [number, number, Buffer[], number] = [0, size, [], 0]
  for await (const block of readBlocks(file, signal)) {
    if (digests[index]?.equals(computeDigest(block)) !== true) throw createChangedError(file.path)
    index += 1
    const content = block.subarray(0, remainingBytes)
    remainingBytes -= content.length
    const lines: Buffer[] = []
    let from = 0
    for (let end = content.indexOf(lineFeed); end !== -1; end = content.indexOf(lineFeed, from)) {
      lines.push(Buffer.concat([...partialLine, content.subarray(from, end)]))
      ;[partialLine, partialBytes, from] = [[], 0, end + 1]
    }
    partialLine.push(content.subarray(from))
    partialBytes += content.length - from
    if (partialBytes > maxLineBytes)
      throw new ArchiveError(file.path, `${file.path} has a line of over ${maxLineBytes} bytes.`)
    if (lines.length > 0) yield lines
  }
  if (index !== digests.length) throw createChangedError(file.path)
}

const createChangedError = (path: string) =>
  new ArchiveError(path, `${path} was changed while it was read. Run the command again.`)
