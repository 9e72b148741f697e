/** Opens SQLite files, and waits until a file is on the disk. @module */

import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

interface Driver {
  readonly DatabaseSync: new (path: string) => DatabaseSyncInstance
}

/** Opens or creates a file: by `node:sqlite` where Node has it, else by a package with the same API. */
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

/** Of a folder the names of its files are written: a new name is permanent then. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
