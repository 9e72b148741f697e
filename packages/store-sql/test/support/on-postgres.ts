/** Registers tests on a PostgreSQL database of their own, and closes after each test what it opened. @module */
import type { Store } from '@payment-integration/core/ports'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { createPostgresStore, type PostgresStoreOptions } from '../../src/postgres/create-postgres-store.js'
import { insertIntegration } from '../conformance/fixtures.js'
import type { TestDatabase, TestPostgres, TestPostgresOptions } from '../postgres.js'
import { createTestDatabase, postgresMissing, startPostgres } from '../postgres.js'

/** Registers tests. `missing`: what this machine lacks for them; they are then skipped, and their title says it. */
export function describeUnless(missing: string | null, name: string, register: () => void): void {
  describe.skipIf(missing)(missing === null ? name : `${name} (skipped: ${missing})`, register)
}

export const describeOnPostgres = (name: string, register: () => void): void =>
  describeUnless(postgresMissing, name, register)

/** The database of the tests, and what they open on it. */
export interface OnPostgres<Server extends TestDatabase = TestDatabase> {
  server(): Server
  connectionString(role?: string): string
  /** One session of the owner, for all tests. */
  admin(): pg.Pool
  connect(config?: pg.ClientConfig): Promise<pg.Client>
  pool(config?: pg.PoolConfig): pg.Pool
  /** A name that no test used before. */
  nextSchema(): string
  /** A store, on a new schema unless one is given. */
  open(options?: Partial<PostgresStoreOptions>): Store
  /** A store with the current schema and the integration of the shop. */
  openMigrated(options?: Partial<PostgresStoreOptions>): Promise<Store>
  /** Calls it after the test; the last one first. */
  onEnd(close: () => unknown): void
}

/** Registers tests on a database of the server that other files use as well. */
export const onPostgres = (name: string, register: (postgres: OnPostgres) => void): void =>
  registerOn(name, createTestDatabase, register)

/** Registers tests on a server of their own, which they may halt. */
export const onOwnPostgres = (
  name: string,
  options: TestPostgresOptions,
  register: (postgres: OnPostgres<TestPostgres>) => void,
): void => registerOn(name, () => startPostgres(options), register)

function registerOn<Server extends TestDatabase>(
  name: string,
  start: () => Promise<Server>,
  register: (postgres: OnPostgres<Server>) => void,
): void {
  describeOnPostgres(name, () => {
    let server: Server
    let admin: pg.Pool
    let schemas = 0
    const closing: (() => unknown)[] = []
    const onEnd = (close: () => unknown) => void closing.push(close)
    const connectionString = (role = 'postgres') => server.connectionString.replace('postgres@', `${role}@`)
    const createPool = (config: pg.PoolConfig) => {
      const pool = new pg.Pool({ connectionString: connectionString(), ...config })
      return pool.on('error', () => undefined)
    }
    const nextSchema = () => {
      schemas += 1
      return `test_${schemas}`
    }
    const open = (options: Partial<PostgresStoreOptions> = {}) => {
      const store = createPostgresStore({ connectionString: connectionString(), schema: nextSchema(), ...options })
      onEnd(() => store.close())
      return store
    }
    beforeAll(async () => {
      server = await start()
      admin = createPool({ max: 1, idleTimeoutMillis: 0 })
    })
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close()
    })
    afterAll(async () => {
      await admin?.end()
      await server?.remove()
    })
    register({
      ...{ server: () => server, admin: () => admin, connectionString, nextSchema, open, onEnd },
      async connect(config = {}) {
        const client = new pg.Client({ connectionString: connectionString(), ...config })
        client.on('error', () => undefined)
        await client.connect()
        onEnd(() => client.end())
        return client
      },
      pool(config = {}) {
        const pool = createPool(config)
        onEnd(() => pool.end())
        return pool
      },
      async openMigrated(options) {
        const store = open(options)
        await store.migrate()
        await insertIntegration(store)
        return store
      },
    })
  })
}

/** Resolves once as many transactions of the database wait for others. */
export async function lockIsAwaited(
  query: (text: string) => Promise<{ readonly rows: readonly unknown[] }>,
  count = 1,
): Promise<void> {
  for (const deadline = performance.now() + 300_000; performance.now() < deadline; ) {
    if ((await query('select 1 from pg_locks where not granted')).rows.length >= count) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`No ${count} transactions wait for others.`)
}
