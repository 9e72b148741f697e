import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onPostgres } from '../../test/support/on-postgres.js'
import { createPostgresEngine } from './postgres-engine.js'

const unavailable = { name: 'StoreError', code: 'ERR_STORE_UNAVAILABLE' }

onPostgres('a server that falls silent', ({ pool: openPool }) => {
  const open = (pool = openPool({ max: 1 })) => createPostgresEngine(pool, { schema: 'public', answerTimeoutMs: 200 })

  test('ends a read, whose connection is not used again', async () => {
    const pool = openPool({ max: 1 })
    const { rows } = open(pool)
    await expect(rows({ sql: 'select pg_sleep(60)', parameters: [] })).rejects.toMatchObject(unavailable)
    expect(pool.totalCount).toBe(0)
    expect((await rows({ sql: 'select 7 as n', parameters: [] })).values).toEqual([[7]])
  })

  test('ends a transaction, which stores nothing', async () => {
    const { read, transaction } = open()
    await sql`create table notes (n integer)`.execute(read)
    const work = transaction(async (db) => {
      await sql`insert into notes values (1)`.execute(db)
      await sql`select pg_sleep(60)`.execute(db)
    })
    await expect(work).rejects.toMatchObject(unavailable)
    expect((await sql`select * from notes`.execute(read)).rows).toEqual([])
  })
})
