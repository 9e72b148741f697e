/** Databases of PostgreSQL on which the made-up migration runs. @module */
import type { Store } from '@payment-integration/core/ports'
import pg from 'pg'
import { afterEach, beforeEach, describe } from 'vitest'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'
import { migrate, releasedMigrations } from '../../src/migrations/migrate.js'
import { createPostgresStore } from '../../src/postgres/create-postgres-store.js'
import { createPostgresEngine } from '../../src/postgres/postgres-engine.js'
import * as fixtures from '../conformance/fixtures.js'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../postgres.js'
import { migrationsWithNext, nextMigration } from './next-migration.js'

/** A migrated database with an integration. */
export interface ReleasedDatabase {
  readonly connectionString: string
  readonly schema: string
  /** A store of the last release, on connections of its own. */
  openLast(): Store
  /** An engine on connections of its own. */
  openEngine(options?: pg.PoolConfig): Engine
  /** A store of the release with the made-up migration. */
  openNext(): Store
  /** A session for the test's own statements. */
  connect(): Promise<pg.Client>
  /** Runs the first steps of the made-up migration. */
  runSteps(count: number): Promise<void>
  /** Stores payments with hashes from 0, without snapshots. */
  fill(payments: number): Promise<void>
  remove(): Promise<void>
}

/** Opens a database with the schema of the last release. */
async function openReleased(): Promise<ReleasedDatabase> {
  const database: TestDatabase = await createTestDatabase()
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
  await first.integrations.insert(fixtures.integration())
  return {
    connectionString,
    schema,
    openLast,
    openEngine,
    openNext: () => createStore(openEngine(), undefined, migrationsWithNext),
    async connect() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      closing.unshift(() => client.end())
      return client
    },
    runSteps: (count) =>
      migrate(openEngine(), [...releasedMigrations, { expand: nextMigration.expand.slice(0, count), contract: [] }]),
    async fill(payments) {
      for (let from = 0; from < payments; from += 1_000) {
        const count = Math.min(1_000, payments - from)
        const rows = fixtures.numbered(count, from)
        await first.transaction((tx) => tx.upsertPayments(rows))
      }
    },
    async remove() {
      for (const close of closing.splice(0)) await close().catch(() => undefined)
      await database.remove()
    },
  }
}

/** Registers tests on PostgreSQL, each of which gets a database of its own. */
export function onReleased(name: string, register: (database: () => ReleasedDatabase) => void): void {
  const skipped = postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`
  describe.skipIf(postgresMissing)(`${name}${skipped}`, () => {
    let database: ReleasedDatabase
    beforeEach(async () => {
      database = await openReleased()
    })
    afterEach(() => database?.remove())
    register(() => database)
  })
}
