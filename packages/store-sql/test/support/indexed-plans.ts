/** Tests of plans on both databases, each filled once. @module */
import type { Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'
import { postgresMissing } from '../postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from './engines.js'
import { type Compiled, postgresScans, sqliteSteps } from './plans.js'

/** Fills a migrated database. */
type Fill = (store: Store, engine: Engine) => Promise<void>

/** Registers the tests of each database. PostgreSQL has no statistics of the rows. */
export function onFilledDatabases(
  fill: Fill,
  register: Readonly<Record<'SQLite' | 'PostgreSQL', (engine: () => Engine) => void>>,
): void {
  describe('SQLite', () => register.SQLite(filled(openSqlite, fill)))
  const skipped = postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`
  describe.skipIf(postgresMissing)(`PostgreSQL${skipped}`, () => register.PostgreSQL(filled(openPostgres, fill)))
}

/** Gathers the statistics of PostgreSQL. */
export const analyze = ({ read }: Engine) => sql`analyze`.execute(read)

/** Queries, and the rows that they run on. */
export interface IndexedQueries {
  /** The rows, for the names of the tests. */
  readonly rows: string
  readonly fill: Fill
  queries(db: Engine['read']): Readonly<Record<string, Compiled>>
  /** The most rows of a table that a step of PostgreSQL may touch. */
  readonly maxTouched: number
}

/** Registers the tests: no query scans a table, or touches rows that are not in its result. */
export function indexedPlanTests({ rows, fill, queries, maxTouched }: IndexedQueries): void {
  onFilledDatabases(fill, {
    SQLite: (engine) =>
      test(`finds ${rows} by an index, and walks no table`, async () => {
        for (const [name, query] of Object.entries(queries(engine().read))) {
          const steps = await sqliteSteps(engine(), query)
          expect(steps.length, name).toBeGreaterThan(0)
          for (const step of steps) expect(step, name).toMatch(/^SEARCH \w+ USING (COVERING )?INDEX/)
        }
      }),
    PostgreSQL: (engine) =>
      test(`finds ${rows} by an index, and touches only the rows of the answer`, async () => {
        await analyze(engine())
        for (const [name, query] of Object.entries(queries(engine().read))) {
          const scans = (await postgresScans(engine(), query)).filter(({ type }) => type !== 'ModifyTable')
          expect(scans.length, name).toBeGreaterThan(0)
          for (const { type, touched } of scans) {
            expect(type, name).toMatch(/^(Index (Only )?Scan|Bitmap Heap Scan)$/)
            expect(touched, name).toBeLessThanOrEqual(maxTouched)
          }
        }
      }),
  })
}

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
