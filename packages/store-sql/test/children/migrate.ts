/** Migrates a SQLite file and prints what became of it. @module */
import { createSqliteStore } from '../../src/exports/index.js'

const [path = ''] = process.argv.slice(2)
const store = createSqliteStore({ path })
await store.migrate()
process.stdout.write(`${JSON.stringify(await store.integrations.list())}\n`)
await store.close()
