/** Tests of plans on both databases, each filled once. @module */
import type { Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe } from 'vitest'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'
import { type OpenEngine, openPostgres, openSqlite } from './engines.js'
import { describeOnPostgres } from './on-postgres.js'

/** Fills a migrated database. */
export type Fill = (store: Store, engine: Engine) => Promise<void>

/** Registers the tests of each database. PostgreSQL has no statistics of the rows. */
export function onFilledDatabases(
  fill: Fill,
  register: Readonly<Record<'SQLite' | 'PostgreSQL', (engine: () => Engine) => void>>,
): void {
  describe('SQLite', () => register.SQLite(filled(openSqlite, fill)))
  describeOnPostgres('PostgreSQL', () => register.PostgreSQL(filled(openPostgres, fill)))
}

/** Gathers the statistics of PostgreSQL. */
export const analyze = ({ read }: Engine) => sql`analyze`.execute(read)

/** A database that is filled before the tests, and closed after them. */
function filled(open: () => Promise<OpenEngine>, fill: Fill): () => Engine {
  let opened: OpenEngine
  beforeAll(async () => {
    opened = await open()
    const store = createStore(opened.engine)
    await store.migrate()
    await fill(store, opened.engine)
  })
  afterAll(() => opened?.close())
  return () => opened.engine
}
