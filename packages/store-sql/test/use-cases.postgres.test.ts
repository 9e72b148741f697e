import { afterAll, beforeAll, describe } from 'vitest'
import { createPostgresStore } from '../src/exports/index.js'
import { postgresMissing, startPostgres, type TestPostgres } from './postgres.js'
import { type MigratedDatabases, migratedOnPostgres } from './support/migrated-databases.js'
import { useCaseRaces } from './use-case-races.js'
import { useCases } from './use-cases.js'

describe.skipIf(postgresMissing)(
  `PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestPostgres
    let databases: MigratedDatabases
    beforeAll(async () => {
      postgres = await startPostgres({ fsync: false })
      databases = await migratedOnPostgres(postgres)
    }, 60_000)
    afterAll(async () => {
      await databases?.close()
      await postgres?.remove()
    })

    const open = async () => {
      const { place: connectionString, remove } = await databases.make()
      const store = createPostgresStore({ connectionString })
      return {
        store,
        async close() {
          await store.close()
          await remove()
        },
      }
    }
    useCases('PostgreSQL', open)
    useCaseRaces('PostgreSQL', open)
  },
)
