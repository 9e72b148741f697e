import { storeConformance } from '@payment-integration/core/conformance'
import { afterAll, beforeAll, describe } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../test/postgres.js'
import { type MigratedDatabases, migratedOnPostgres, migratedOnSqlite } from '../test/support/migrated-databases.js'
import { createPostgresStore, createSqliteStore } from './exports/index.js'

let files: MigratedDatabases
beforeAll(async () => {
  files = await migratedOnSqlite()
})
afterAll(() => files?.close())

storeConformance('SQLite', async () => {
  const { place: path, remove } = await files.make()
  let now = 1_700_000_000_000
  const open = () => createSqliteStore({ path, clock: { now: () => now } })
  const store = open()
  return {
    store,
    openAnother: async () => open(),
    advanceClock(ms) {
      now += ms
    },
    async close() {
      await store.close()
      await remove()
    },
  }
})

describe.skipIf(postgresMissing)(
  `a real server${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let server: TestPostgres
    let databases: MigratedDatabases
    beforeAll(async () => {
      server = await startPostgres({ fsync: false })
      databases = await migratedOnPostgres(server)
    }, 60_000)
    afterAll(async () => {
      await databases?.close()
      await server?.remove()
    }, 60_000)

    storeConformance('PostgreSQL', async () => {
      const { place: connectionString, remove } = await databases.make()
      const open = () => createPostgresStore({ connectionString })
      const store = open()
      return {
        store,
        openAnother: async () => open(),
        async close() {
          await store.close()
          await remove()
        },
      }
    })
  },
)
