/** Databases of PostgreSQL on which the made-up migration runs. @module */
import pg from 'pg'
import { afterEach, beforeEach } from 'vitest'
import { createStore } from '../../src/create-store.js'
import { migrate, releasedMigrations } from '../../src/migrations/migrate.js'
import { createPostgresStore } from '../../src/postgres/create-postgres-store.js'
import { createPostgresEngine } from '../../src/postgres/postgres-engine.js'
import * as fixtures from '../conformance/fixtures.js'
import { createTestDatabase } from '../postgres.js'
import { migrationsWithNext, nextMigration } from './next-migration.js'
import { describeOnPostgres } from './on-postgres.js'

/** Opens a database with the schema of the last release and an integration. Stores and engines share no connection. */
async function openReleased() {
  const database = await createTestDatabase()
  const { connectionString } = database
  const schema = 'released'
  const closing: (() => Promise<unknown>)[] = []
  const opened = <T extends { close(): Promise<void> }>(each: T): T => {
    closing.push(() => each.close())
    return each
  }
  const openEngine = (options: pg.PoolConfig = {}) => {
    const pool = new pg.Pool({ connectionString, max: 4, ...options })
    pool.on('error', () => undefined)
    return opened(createPostgresEngine(pool, { schema, end: () => pool.end() }))
  }
  const openLast = () => opened(createPostgresStore({ connectionString, schema, maxConnections: 4 }))
  const first = openLast()
  await first.migrate()
  await fixtures.insertIntegration(first)
  return {
    connectionString,
    schema,
    openLast,
    openEngine,
    /** A store of the release with the made-up migration. */
    openNext: () => createStore(openEngine(), undefined, migrationsWithNext),
    async connect() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      closing.unshift(() => client.end())
      return client
    },
    /** Runs the first steps of the made-up migration. */
    runSteps: (count: number) =>
      migrate(openEngine(), [...releasedMigrations, { expand: nextMigration.expand.slice(0, count), contract: [] }]),
    /** Stores payments with hashes from 0, without snapshots. */
    async fill(payments: number) {
      for (let from = 0; from < payments; from += 1_000) {
        const rows = fixtures.numbered(Math.min(1_000, payments - from), from)
        await first.transaction((tx) => tx.upsertPayments(rows))
      }
    },
    async remove() {
      for (const close of closing.splice(0)) await close().catch(() => undefined)
      await database.remove()
    },
  }
}

type ReleasedDatabase = Awaited<ReturnType<typeof openReleased>>

/** Registers tests on PostgreSQL, each of which gets a database of its own. */
export function onReleased(name: string, register: (database: () => ReleasedDatabase) => void): void {
  describeOnPostgres(name, () => {
    let database: ReleasedDatabase
    beforeEach(async () => {
      database = await openReleased()
    })
    afterEach(() => database?.remove())
    register(() => database)
  })
}
