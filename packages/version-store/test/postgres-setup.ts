/** A database with the table of versions and a table of notes. @module */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, onTestFinished } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../store-sql/test/postgres.js'
import { createPostgresVersionStore } from '../src/exports/postgres.js'
import { nothing } from './payment.js'

/** The database of a test, emptied before it. What a test opens ends with it. */
interface Database {
  connectionString(): string
  /** A pool that the test does not share with a store. */
  admin(): pg.Pool
  pool(config?: pg.PoolConfig): pg.Pool
  client(): Promise<pg.Client>
}

/** Registers tests on a database of their own. */
export function describePostgres(register: (database: Database) => void): void {
  describe.skipIf(postgresMissing !== null)('PostgreSQL', () => {
    let server: TestDatabase
    let admin: pg.Pool
    beforeAll(async () => {
      server = await createTestDatabase()
      admin = new pg.Pool({ connectionString: server.connectionString })
      await admin.query('CREATE TABLE notes (id bigserial PRIMARY KEY, note text NOT NULL UNIQUE)')
      await createPostgresVersionStore({ database: admin }).migrate()
    })
    afterAll(async () => {
      await admin?.end()
      await server?.remove()
    })
    beforeEach(async () => void (await admin.query('TRUNCATE payment_versions, notes')))

    register({
      connectionString: () => server.connectionString,
      admin: () => admin,
      pool(config = {}) {
        const pool = new pg.Pool({ connectionString: server.connectionString, ...config })
        pool.on('error', nothing)
        onTestFinished(() => pool.end())
        return pool
      },
      async client() {
        const client = new pg.Client({ connectionString: server.connectionString })
        await client.connect()
        onTestFinished(() => client.end())
        return client
      },
    })
  })
}
