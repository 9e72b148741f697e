/** Refuses a command whose SQLite file is missing. @module */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '@payment-integration/server/service'
import { DatabaseMissingError } from '../errors.js'

/**
 * Looks for the file of an SQLite database. The store makes a missing one, so a command that only reads refuses it: a
 * mistyped path would show an empty database. Anything else that is wrong with the path is reported when the store
 * opens it.
 * @returns The whole path of a missing file that the command may create, else null.
 * @throws DatabaseMissingError `ERR_DATABASE_MISSING`.
 */
export async function findMissingDatabase(database: Config['database'], mayCreate: boolean): Promise<string | null> {
  if (database.kind !== 'sqlite') return null
  const path = resolve(database.path)
  try {
    await stat(path)
    return null
  } catch (error) {
    if (!isMissing(error)) return null
  }
  if (!mayCreate) throw new DatabaseMissingError(path)
  return path
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
}
