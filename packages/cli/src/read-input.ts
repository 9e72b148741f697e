/** Reads a whole file or standard input, with a limit. @module */
import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { InterruptedError, UsageError } from './errors.js'
import type { Io } from './io.js'

/**
 * Reads everything. Error messages never quote the content: it may be another, secret file.
 * @param source - A path, or `-` for standard input.
 * @param maxMiB - Limit in mebibytes.
 * @throws UsageError `ERR_USAGE` when it cannot be read or is too large; InterruptedError `ERR_INTERRUPTED` when
 * `io.signal` aborts.
 */
export async function readInput(
  source: string,
  { input, signal }: Pick<Io, 'input' | 'signal'>,
  maxMiB: number,
): Promise<Buffer> {
  const name = inputName(source)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of addAbortSignal(signal, source === '-' ? input() : createReadStream(source))) {
      size += chunk.length
      if (size > maxMiB * 1_048_576) break
      chunks.push(chunk)
    }
  } catch (error) {
    if (signal.aborted) throw new InterruptedError(`${name} was not read: the command was interrupted.`)
    throw new UsageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`)
  }
  if (size > maxMiB * 1_048_576) throw new UsageError(`${name} is larger than ${maxMiB} MiB.`)
  return Buffer.concat(chunks)
}

/** The source as the subject of a sentence. */
export function inputName(source: string): string {
  return source === '-' ? 'Standard input' : `The file ${source}`
}
