/** Writes the files of a plan. @module */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { InitError } from '../errors.js'
import type { PlannedFile } from './plan.js'
import { readText } from './project.js'

/**
 * Creates and changes the files. Each must be as it was when the plan was made: no file is overwritten.
 * @throws InitError `ERR_INIT` for a file that something else created or changed meanwhile, and for a failed write.
 */
export async function writePlan(folder: string, files: readonly PlannedFile[]): Promise<void> {
  for (const { path, before } of files)
    if ((await readText(folder, path)) !== before)
      throw new InitError(`${path} was changed meanwhile; nothing was written. Run the command again.`)
  for (const { path, before, after } of files) {
    try {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), after, { flag: before === null ? 'wx' : 'w' })
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
      throw new InitError(`${path} could not be written (${code}). Correct this, then run the command again.`, {
        cause,
      })
    }
  }
}
