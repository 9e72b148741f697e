/** One database for the tests of a file, each on schemas of its own. @module */
import pg from 'pg'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../postgres.js'

/** The database, and a session of its owner. */
export interface SchemasOnPostgres {
  connectionString(): string
  admin(): pg.Client
  /** A name that no test used before. */
  nextSchema(): string
  /** Calls it after the test; the last one first. */
  onEnd(close: () => unknown): void
}

/** Registers the hooks that open and remove it. */
export function schemasOnPostgres(prefix: string): SchemasOnPostgres {
  let server: TestDatabase
  let admin: pg.Client
  let schemas = 0
  const closing: (() => unknown)[] = []
  beforeAll(async () => {
    server = await createTestDatabase()
    admin = new pg.Client({ connectionString: server.connectionString })
    await admin.connect()
  })
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  afterAll(async () => {
    await admin?.end()
    await server?.remove()
  })
  return {
    connectionString: () => server.connectionString,
    admin: () => admin,
    nextSchema() {
      schemas += 1
      return `${prefix}_${schemas}`
    },
    onEnd: (close) => void closing.push(close),
  }
}
