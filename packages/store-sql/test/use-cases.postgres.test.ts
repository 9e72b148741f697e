import { afterAll, beforeAll, describe } from 'vitest'
import { createPostgresStore } from '../src/exports/postgres.js'
import { createTestDatabase, postgresMissing, type TestDatabase } from './postgres.js'
import { severalUpdates } from './several-updates.js'
import { type EmptiedDatabase, emptiedOnPostgres } from './support/migrated-databases.js'
import { useCaseRaces } from './use-case-races.js'
import { useCases } from './use-cases.js'

describe.skipIf(postgresMissing)(
  `PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestDatabase
    let database: EmptiedDatabase
    beforeAll(async () => {
      postgres = await createTestDatabase()
      database = await emptiedOnPostgres(postgres)
    })
    afterAll(async () => {
      await database?.close()
      await postgres?.remove()
    })

    const open = async () => {
      await database.empty()
      const store = createPostgresStore({ connectionString: database.connectionString })
      return { store, close: () => store.close() }
    }
    useCases('PostgreSQL', open)
    severalUpdates('PostgreSQL', open)
    useCaseRaces('PostgreSQL', open)
  },
)
