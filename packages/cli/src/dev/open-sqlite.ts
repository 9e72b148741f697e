/** Opens SQLite for the demo receiver. @module */
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
