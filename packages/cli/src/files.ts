/** Locates the package's files, opens SQLite files, syncs to disk, and interprets .gitignore. @module */
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

const load = createRequire(import.meta.url)

/** This package's version, for example `0.1.0`. */
export const version: string = load('../package.json').version

/** The folder of the templates, next to `src` and to the bundled `dist`. */
export const templatesFolder: string = fileURLToPath(new URL('../templates/', import.meta.url))

/** Opens or creates a file with `node:sqlite` where Node has that module, else with a package of the same API. */
export function openSqlite(path: string): DatabaseSyncInstance {
  let driver: typeof import('@photostructure/sqlite')
  try {
    driver = load('node:sqlite')
  } catch {
    driver = load('@photostructure/sqlite')
  }
  return new driver.DatabaseSync(path)
}

/** Flushes a file or a folder to the disk. A flushed folder keeps its new file names through a power failure. */
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
