/** Opens SQLite for the demo receiver. @module */
import { createRequire } from 'node:module'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

interface Driver {
  readonly DatabaseSync: new (path: string) => DatabaseSyncInstance
}

/** Opens or makes the file: by `node:sqlite` where Node brings it, by the package of the same API before. */
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
