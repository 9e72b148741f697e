import { historyConformance, storeConformance } from '@payment-integration/core/conformance'
import { afterAll, beforeAll, describe } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../test/postgres.js'
import {
  type CopiedFiles,
  copiedOnSqlite,
  type EmptiedDatabase,
  emptiedOnPostgres,
} from '../test/support/migrated-databases.js'
import { createPostgresStore } from './exports/postgres.js'
import { createSqliteStore } from './exports/sqlite.js'

let files: CopiedFiles
beforeAll(async () => {
  files = await copiedOnSqlite()
})
afterAll(() => files?.close())

const openSqlite = async () => {
  const { path, remove } = files.make()
  let now = 1_700_000_000_000
  const open = () => createSqliteStore({ path, clock: { now: () => now } })
  const store = open()
  return {
    store,
    openAnother: async () => open(),
    advanceClock(ms: number) {
      now += ms
    },
    async close() {
      await store.close()
      remove()
    },
  }
}
storeConformance('SQLite', openSqlite)
historyConformance('SQLite', openSqlite)

describe.skipIf(postgresMissing)(
  `a real server${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let server: TestDatabase
    let database: EmptiedDatabase
    beforeAll(async () => {
      server = await createTestDatabase()
      database = await emptiedOnPostgres(server)
    })
    afterAll(async () => {
      await database?.close()
      await server?.remove()
    })

    const openPostgres = async () => {
      await database.empty()
      const open = () => createPostgresStore({ connectionString: database.connectionString })
      const store = open()
      return { store, openAnother: async () => open(), close: () => store.close() }
    }
    storeConformance('PostgreSQL', openPostgres)
    let schemas = 0
    // Removed segments leave no tables to empty.
    historyConformance('PostgreSQL', async () => {
      schemas += 1
      const { connectionString } = server
      const open = () => createPostgresStore({ connectionString, schema: `history_${schemas}` })
      const store = open()
      return { store, openAnother: async () => open(), close: () => store.close() }
    })
  },
)
