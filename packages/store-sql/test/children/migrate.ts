/**
 * Migrates a SQLite file and prints its integrations.
 * With `next` as the second argument it runs the made-up migration, too.
 * @module
 */
import { createStore } from '../../src/create-store.js'
import { migrate, releasedMigrations } from '../../src/migrations/migrate.js'
import { createSqliteEngine } from '../../src/sqlite/create-sqlite-store.js'
import { createSqliteFile } from '../../src/sqlite/sqlite-file.js'
import { migrationsWithNext } from '../support/next-migration.js'

const [path = '', last] = process.argv.slice(2)
const engine = createSqliteEngine(createSqliteFile(path, 5_000), Date)
await migrate(engine, last === 'next' ? migrationsWithNext : releasedMigrations)
const store = createStore(engine)
process.stdout.write(`${JSON.stringify(await store.integrations.list())}\n`)
await store.close()
