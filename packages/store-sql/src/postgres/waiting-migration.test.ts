import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { migrate } from '../migrations/migrate.js'
import { createPostgresEngine } from './postgres-engine.js'

const schema = 'waiting'
/** Every time limit of a connection; the migration waits for longer. */
const limitMs = 2_000

describe.skipIf(postgresMissing)(
  `a migration behind another one${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let server: TestDatabase
    let pool: pg.Pool
    let other: pg.Client
    beforeAll(async () => {
      server = await createTestDatabase()
      const { connectionString } = server
      pool = new pg.Pool({ connectionString, lock_timeout: limitMs, statement_timeout: limitMs })
      other = new pg.Client({ connectionString })
      await other.connect()
    })
    afterAll(async () => {
      await other?.end()
      await pool?.end()
      await server?.remove()
    })

    test('waits without limit, although other statements have limits', async () => {
      await other.query(`create schema ${schema};
        create table ${schema}.locks (name text collate "C" primary key, holder text, expires_at bigint);
        insert into ${schema}.locks values ('migration', 'other', extract(epoch from statement_timestamp()) * 1000 + 500000)`)
      const migrated = migrate(createPostgresEngine(pool, { schema, answerTimeoutMs: limitMs }))
      let ended = false
      const noted = migrated.finally(() => {
        ended = true
      })
      noted.catch(() => undefined)
      const until = performance.now() + 1.5 * limitMs
      while (!ended && performance.now() < until) await delay(20)
      await other.query(`update ${schema}.locks set holder = null`)
      await noted
      const versions = await other.query(`select max(version) as newest from ${schema}.schema_versions`)
      expect(versions.rows).toEqual([{ newest: '100' }])
    })
  },
)
