import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeConformance } from '@payment-integration/core/conformance'
import { afterAll, beforeAll, describe } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../test/postgres.js'
import { createPostgresStore, createSqliteStore } from './exports/index.js'

storeConformance('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pi-sqlite-'))
  let now = 1_700_000_000_000
  const open = () => createSqliteStore({ path: join(folder, 'payments.db'), clock: { now: () => now } })
  const store = open()
  return {
    store,
    openAnother: async () => open(),
    advanceClock(ms) {
      now += ms
    },
    async close() {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe.skipIf(postgresMissing)(
  `a real server${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let server: TestPostgres
    let stores = 0
    beforeAll(async () => {
      server = await startPostgres()
    }, 60_000)
    afterAll(() => server?.remove(), 60_000)

    storeConformance('PostgreSQL', async () => {
      stores += 1
      const schema = `test_${stores}`
      const open = () => createPostgresStore({ connectionString: server.connectionString, schema })
      const store = open()
      return { store, openAnother: async () => open(), close: () => store.close() }
    })
  },
)
