/** Reads a JSON document from a file or from standard input. @module */
import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { InterruptedError, UsageError } from '../../errors.js'
import type { Io } from '../../io.js'

/** Far above any configuration, far below what would trouble this process. */
const maxBytes = 4 * 1024 * 1024

/**
 * Reads and parses one JSON document in UTF-8. Messages repeat nothing of it: it may be another file than was meant.
 * @param source - A path, or `-` for standard input.
 * @throws UsageError `ERR_USAGE` when it cannot be read, is too large, or is not JSON;
 * InterruptedError `ERR_INTERRUPTED` when `io.signal` aborts.
 */
export async function readJson(source: string, io: Pick<Io, 'input' | 'signal'>): Promise<unknown> {
  const name = source === '-' ? 'Standard input' : `The file ${source}`
  const bytes = await readAll(source, name, io)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(`${name} is not text in UTF-8.`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, position] = / at position (\d+)/.exec((error as Error).message) ?? []
    throw new UsageError(
      `${name} is not JSON${position === undefined ? '' : `: see character ${Number(position) + 1}`}.`,
    )
  }
}

async function readAll(source: string, name: string, { input, signal }: Pick<Io, 'input' | 'signal'>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of addAbortSignal(signal, source === '-' ? input() : createReadStream(source))) {
      size += chunk.length
      if (size > maxBytes) break
      chunks.push(chunk)
    }
  } catch (error) {
    if (signal.aborted) throw new InterruptedError(`${name} was not read: the command was interrupted.`)
    throw new UsageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`)
  }
  if (size > maxBytes) throw new UsageError(`${name} is larger than ${maxBytes / 1024 / 1024} MiB.`)
  return Buffer.concat(chunks)
}
