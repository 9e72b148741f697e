import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { onPostgres } from '../../test/support/on-postgres.js'
import { migrate } from '../migrations/migrate.js'
import { createPostgresEngine } from './postgres-engine.js'

const schema = 'waiting'
/** Every time limit of a connection; the migration waits for longer. */
const limitMs = 2_000

onPostgres('a migration behind another one', ({ admin, pool: openPool }) => {
  test('waits without limit, although other statements have limits', async () => {
    const pool = openPool({ lock_timeout: limitMs, statement_timeout: limitMs })
    const other = admin()
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
    expect(versions.rows).toEqual([{ newest: '200' }])
  })
})
