/**
 * `run-store.mjs <driver> <empty folder>`: the published conformance suite on a SQLite driver; prints one line of JSON.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { createSqliteFixture, versionStoreConformance } from '@payment-integration/version-store/conformance'

const require = createRequire(import.meta.url)
const [driver, folder] = process.argv.slice(2)

const open = {
  'node:sqlite': (path) => new (require('node:sqlite').DatabaseSync)(path),
  'better-sqlite3': (path) => new (require('better-sqlite3'))(path),
  'bun:sqlite': (path) => new (require('bun:sqlite').Database)(path),
}[driver]

const tests = []
let files = 0
mkdirSync(folder, { recursive: true })
versionStoreConformance(
  driver,
  (faults) => {
    const database = open(join(folder, `receiver-${++files}.db`))
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
    return createSqliteFixture(database, faults, () => {})
  },
  { test: (name, run) => tests.push({ name, run }) },
)

const failed = []
for (const { name, run } of tests) await run().catch((error) => failed.push(`${name}: ${error?.stack ?? error}`))
process.stdout.write(`${JSON.stringify({ tests: tests.length, failed })}\n`)
