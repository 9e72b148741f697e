/** Opens SQLite files, flushes files and folders to the disk, and reads `.gitignore`. @module */
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

const commonPatterns: ReadonlyMap<string, RegExp> = new Map([
  ['.env*', /^\.env/],
  ['.env.*', /^\.env\./],
  ['*.local', /\.local$/],
  ['.env*.local', /^\.env.*\.local$/],
  ['.env.*.local', /^\.env\..*\.local$/],
  ['.dev.vars*', /^\.dev\.vars/],
  ['*.db*', /\.db/],
])

/** Whether the text of a `.gitignore` covers a file of its folder, by the file's name or by a common pattern. */
export function isIgnored(gitignore: string, name: string): boolean {
  const patterns = gitignore.split('\n').map((line) => line.trim().replace(/^\//, ''))
  return patterns.some((pattern) => pattern === name || commonPatterns.get(pattern)?.test(name))
}
