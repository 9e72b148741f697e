/** Opens SQLite files, and flushes files and folders to the disk. @module */
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

interface Driver {
  readonly DatabaseSync: new (path: string) => DatabaseSyncInstance
}

/** Opens or creates a file with `node:sqlite` where Node has that module, else with a package of the same API. */
export function openSqlite(path: string): DatabaseSyncInstance {
  const { DatabaseSync } = driver()
  return new DatabaseSync(path)
}

function driver(): Driver {
  const load = createRequire(import.meta.url)
  try {
    return load('node:sqlite') as Driver
  } catch {
    return load('@photostructure/sqlite') as Driver
  }
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
