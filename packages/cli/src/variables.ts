/** Reads variables that hold secrets, from the environment and from files. @module */
import { open } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { UsageError } from './errors.js'

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

const maxFileBytes = 65_536

/**
 * Returns the name of a variable that holds a secret.
 * @throws UsageError `ERR_USAGE` for anything else: somebody may pass the secret itself, which must not be printed.
 */
export function variableName(name: string): string {
  if (/^[A-Za-z_]\w{0,127}$/.test(name) && !/whsec_|pi_api_/.test(name)) return name
  throw new UsageError(
    '--secret-env and the like take the name of a variable, and no secret: other users see arguments.',
  )
}

/** Reads the variables of a file. @throws UsageError `ERR_USAGE` as {@link readSmallFile}. */
export async function readEnvFile(path: string, source: string): Promise<Variables> {
  return parseEnv(await readSmallFile(path, source)) as Variables
}

/**
 * Reads the text of a file or a pipe of at most 64 KiB.
 * @param source - The option that names it, for messages.
 * @throws UsageError `ERR_USAGE` when it cannot be read or is larger. It quotes no content.
 */
export async function readSmallFile(path: string, source: string): Promise<string> {
  const unreadable = ({ code }: NodeJS.ErrnoException) =>
    new UsageError(`The file of ${source} cannot be read (${code}).`)
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(error)
  })
  try {
    const buffer = Buffer.alloc(maxFileBytes + 1)
    let size = 0
    for (let read = 1; read > 0 && size < buffer.length; size += read)
      read = (await file.read(buffer, size, buffer.length - size, null)).bytesRead
    if (size > maxFileBytes) throw new UsageError(`The file of ${source} is larger than 64 KiB.`)
    return buffer.toString('utf8', 0, size)
  } catch (error) {
    throw error instanceof UsageError ? error : unreadable(error as NodeJS.ErrnoException)
  } finally {
    await file.close()
  }
}
