import { afterAll, beforeAll, describe } from 'vitest'
import { createPostgresStore } from '../src/exports/index.js'
import { postgresMissing, startPostgres, type TestPostgres } from './postgres.js'
import { useCaseRaces } from './use-case-races.js'
import { useCases } from './use-cases.js'

describe.skipIf(postgresMissing)(
  `PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestPostgres
    let schemas = 0
    beforeAll(async () => {
      postgres = await startPostgres()
    }, 60_000)
    afterAll(() => postgres?.remove())

    const open = async () => {
      schemas += 1
      const store = createPostgresStore({ connectionString: postgres.connectionString, schema: `use_cases_${schemas}` })
      await store.migrate()
      return { store, close: () => store.close() }
    }
    useCases('PostgreSQL', open)
    useCaseRaces('PostgreSQL', open)
  },
)
