import { historyConformance, storeConformance } from '@payment-integration/core/conformance'
import { afterAll, beforeAll, describe } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { type EmptiedDatabase, emptiedOnPostgres } from '../../test/support/migrated-databases.js'
import { createPostgresStore } from '../exports/postgres.js'

const shards = 4

describe.skipIf(postgresMissing)(
  `a database in shards${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let server: TestDatabase
    let database: EmptiedDatabase
    beforeAll(async () => {
      server = await createTestDatabase()
      database = await emptiedOnPostgres(server, 'shards', shards)
    })
    afterAll(async () => {
      await database?.close()
      await server?.remove()
    })

    storeConformance('PostgreSQL in shards', async () => {
      await database.empty()
      const open = () => createPostgresStore({ connectionString: database.connectionString, schema: 'shards', shards })
      const store = open()
      return { store, openAnother: async () => open(), close: () => store.close() }
    })
    let schemas = 0
    // Removed segments leave no tables to empty.
    historyConformance('PostgreSQL in shards', async () => {
      schemas += 1
      const { connectionString } = server
      const open = () => createPostgresStore({ connectionString, schema: `history_${schemas}`, shards: 2 })
      const store = open()
      return { store, openAnother: async () => open(), close: () => store.close() }
    })
  },
)
