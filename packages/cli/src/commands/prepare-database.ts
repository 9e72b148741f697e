/** Sees to it that a command works on the database that is meant. @module */
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '@payment-integration/server'
import { DatabaseMissingError } from '../errors.js'

/** Read and write for the owner alone: the file holds payments and hashes of secrets. SQLite gives its companions the same. */
const ownerOnly = 0o600

/**
 * Looks for the file of an SQLite database. A missing one is made, for this user alone, or refused: opening it would make an
 * empty database wherever a path is mistyped. Anything else that is wrong with the path is left to whoever opens it.
 * @returns The path of the file that was made, or null.
 * @throws DatabaseMissingError `ERR_DATABASE_MISSING`.
 */
export async function prepareDatabase(database: Config['database'], mayCreate: boolean): Promise<string | null> {
  if (database.kind !== 'sqlite') return null
  const path = resolve(database.path)
  try {
    if (mayCreate) {
      await (await open(path, 'wx', ownerOnly)).close()
      return path
    }
    await stat(path)
  } catch (error) {
    if (!mayCreate && isMissing(error)) throw new DatabaseMissingError(path)
  }
  return null
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
}
