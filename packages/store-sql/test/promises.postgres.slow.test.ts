import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { createPostgresEngine } from '../src/postgres/postgres-engine.js'
import { postgresMissing, startPostgres, type TestPostgres } from './postgres.js'
import { identityPromises } from './support/identity-promises.js'
import { type EmptiedDatabase, emptiedOnPostgres } from './support/migrated-databases.js'

/** Most stores that one test uses at once. */
const atOnce = 5

describe.skipIf(postgresMissing)(
  `identity on PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  async () => {
    let postgres: TestPostgres
    let pool: pg.Pool
    const schemas: EmptiedDatabase[] = []
    let opened = 0
    beforeAll(async () => {
      postgres = await startPostgres({ fsync: false })
      for (let n = 0; n < atOnce; n += 1) schemas.push(await emptiedOnPostgres(postgres, `promises_${n}`))
      pool = new pg.Pool({ connectionString: postgres.connectionString, max: 10 })
    })
    afterAll(async () => {
      await pool?.end()
      for (const schema of schemas) await schema.close()
      await postgres?.remove()
    })
    await identityPromises('postgres', async (now) => {
      const n = opened % atOnce
      opened += 1
      await schemas[n]?.empty()
      return createPostgresEngine(pool, { schema: `promises_${n}`, now })
    })
  },
)
