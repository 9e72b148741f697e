/** The suite on real PostgreSQL for some drivers: one test file for each, to run in parallel. @module */
import pg from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../../store-sql/test/postgres.js'
import { versionStoreConformance } from '../src/exports/conformance.js'
import type { PostgresTestDriver } from './postgres-drivers.js'
import { openWire } from './postgres-wire.js'

/** Registers the suite for each of the drivers, on a server of its own. */
export function postgresConformance(drivers: readonly PostgresTestDriver[]): void {
  const why = postgresMissing === null ? '' : ` (${postgresMissing})`
  describe.skipIf(postgresMissing !== null)(`PostgreSQL${why}`, () => {
    let server: TestPostgres
    let admin: pg.Pool
    let fixtures = 0
    beforeAll(async () => {
      // Thousands of commits; what outlives a crash is tested in crash.slow.test.ts.
      server = await startPostgres({ fsync: false })
      admin = new pg.Pool({ connectionString: server.connectionString, max: 2 })
    })
    afterAll(async () => {
      await admin?.end()
      await server?.remove()
    })

    for (const { name, open, excuse } of drivers)
      versionStoreConformance(
        name,
        async (faults) => {
          const id = ++fixtures
          const [table, notes] = [`versions_${id}`, `notes_${id}`]
          await admin.query(`CREATE TABLE ${notes} (id bigserial PRIMARY KEY, note text NOT NULL)`)
          const wire = await openWire(new URL(server.connectionString).searchParams.get('host') ?? '', faults)
          const { store, run, migrate, close } = await open({ connectionString: wire.connectionString, table })
          await migrate()
          return {
            store,
            write: async (tx, note) =>
              void (await run(tx as pg.PoolClient, `INSERT INTO ${notes} (note) VALUES ('${note}')`)),
            notes: async () => (await admin.query(`SELECT note FROM ${notes} ORDER BY id`)).rows.map((row) => row.note),
            async close() {
              await close()
              await wire.close()
            },
          }
        },
        // Without a way to skip, excused tests are left out: here a skipped test counts as a failed one.
        { test: (title, run, timeoutMs) => test(title, run, timeoutMs), excuse },
      )
  })
}
