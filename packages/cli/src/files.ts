/** Opens SQLite files, and flushes files and folders to the disk. @module */
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

/** Opens or creates a file with `node:sqlite` where Node has that module, else with a package of the same API. */
export function openSqlite(path: string): DatabaseSyncInstance {
  const load = createRequire(import.meta.url)
  let driver: typeof import('@photostructure/sqlite')
  try {
    driver = load('node:sqlite')
  } catch {
    driver = load('@photostructure/sqlite')
  }
  return new driver.DatabaseSync(path)
}

/** Flushes a file to the disk. A flushed folder keeps its new file names through a power failure. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
