/** Tests that queries find their rows by an index, on both databases. @module */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresMissing } from '../postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from './engines.js'
import { type Compiled, postgresScans, sqlitePlan } from './plans.js'

/** Queries, and the rows that they run on. */
export interface IndexedQueries {
  /** The rows, for the names of the tests. */
  readonly rows: string
  fill(open: OpenEngine): Promise<void>
  queries(db: OpenEngine['engine']['read']): Readonly<Record<string, Compiled>>
  /** The most rows of a table that a step of PostgreSQL may touch. */
  readonly maxTouched: number
}

/** Registers the tests: no query scans a table, or touches rows that are not in its result. */
export function indexedPlanTests({ rows, fill, queries, maxTouched }: IndexedQueries): void {
  describe('SQLite', () => {
    const open = filled(openSqlite, fill)
    test(`finds ${rows} by an index, and walks no table`, async () => {
      const { engine } = open()
      for (const [name, query] of Object.entries(queries(engine.read))) {
        const steps = (await sqlitePlan(engine, query)).map(({ detail }) => detail)
        expect(steps.length, name).toBeGreaterThan(0)
        for (const step of steps) expect(step, name).toMatch(/^SEARCH \w+ USING (COVERING )?INDEX/)
      }
    })
  })

  const skipped = postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`
  describe.skipIf(postgresMissing)(`PostgreSQL${skipped}`, () => {
    const open = filled(openPostgres, fill)
    test(`finds ${rows} by an index, and touches only the rows of the answer`, async () => {
      const { engine } = open()
      await sql`analyze`.execute(engine.read)
      for (const [name, query] of Object.entries(queries(engine.read))) {
        const scans = (await postgresScans(engine, query)).filter(({ type }) => type !== 'ModifyTable')
        expect(scans.length, name).toBeGreaterThan(0)
        for (const { type, touched } of scans) {
          expect(type, name).toMatch(/^(Index (Only )?Scan|Bitmap Heap Scan)$/)
          expect(touched, name).toBeLessThanOrEqual(maxTouched)
        }
      }
    })
  })
}

/** A database that is filled before the tests, and closed after them. */
function filled(open: () => Promise<OpenEngine>, fill: IndexedQueries['fill']): () => OpenEngine {
  let opened: OpenEngine | null = null
  beforeAll(async () => {
    opened = await open()
    await fill(opened)
  })
  afterAll(() => opened?.close())
  return () => {
    if (opened === null) throw new Error('The database is not open.')
    return opened
  }
}
