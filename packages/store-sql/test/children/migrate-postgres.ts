/** Runs the made-up migration on PostgreSQL, and prints its events. @module */
import pg from 'pg'
import { migrate } from '../../src/migrations/migrate.js'
import { createPostgresEngine } from '../../src/postgres/postgres-engine.js'
import { migrationsWithNext } from '../support/next-migration.js'

const [connectionString = '', schema = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, max: 3 })
const engine = createPostgresEngine(pool, { schema, end: () => pool.end() })
await migrate(engine, migrationsWithNext, ({ about, event }) => process.stdout.write(`${about}: ${event}\n`))
await engine.close()
