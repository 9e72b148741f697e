import { once } from 'node:events'
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { onPostgres } from '../../test/support/on-postgres.js'
import { SentQuery } from '../internal/statements.js'
import type { Tables } from '../schema/tables.js'
import { createKysely, PostgresDriver } from './postgres-connection.js'
import { createPostgresEngine } from './postgres-engine.js'

const unavailable = { name: 'StoreError', code: 'ERR_STORE_UNAVAILABLE' }
const searching = { searches: true }
const openOn = (pool: pg.Pool, answerTimeoutMs = 600_000, usesOwnPg = false) =>
  createPostgresEngine(pool, { schema: 'public', usesOwnPg, answerTimeoutMs })

onPostgres('statements that are sent before the last is answered', ({ pool: openPool }) => {
  let pool: pg.Pool
  beforeEach(async () => {
    pool = openPool({ max: 1, pipeline: true })
    await pool.query('drop table if exists notes; create table notes (n integer unique)')
  })
  const open = (answerTimeoutMs?: number) => openOn(pool, answerTimeoutMs, true)
  const notes = async () => (await open().rows({ sql: 'select n from notes order by n', parameters: [] })).values
  const send = (db: Kysely<Tables>, query: ReturnType<typeof sql>) => db.executeQuery(new SentQuery(query.compile(db)))
  const search = (db: Kysely<Tables>) => sql`select 1`.execute(db)

  test('are done when the transaction is', async () => {
    await open().transaction(async (db) => {
      await search(db)
      for (const n of [1, 2, 3]) await send(db, sql`insert into notes values (${n})`)
    }, searching)
    expect(await notes()).toEqual([['1'], ['2'], ['3']])
  })

  test.each([
    ['last', []],
    ['before others', [2, 3]],
  ] as const)(
    'fail the commit when one of them failed, %s: nothing is kept and the connection goes on',
    async (_, rest) => {
      await pool.query('insert into notes values (1)')
      const work = open().transaction(async (db) => {
        await search(db)
        await send(db, sql`insert into notes values (7)`)
        await send(db, sql`insert into notes values (1)`)
        for (const n of rest) await send(db, sql`insert into notes values (${n})`).catch(() => undefined)
      }, searching)
      await expect(work).rejects.toMatchObject({ code: '23505' })
      expect(await notes()).toEqual([['1']])
      expect(pool.totalCount).toBe(1)
    },
  )

  test('are not sent after a rejected BEGIN, whose error is reported', async () => {
    const transactionSql = { begin: 'begin isolation level nonsense', commit: 'commit', rollback: 'rollback' }
    const driver = new PostgresDriver(pool, { keepsPlans: true, usesOwnPg: true, searches: true, transactionSql })
    for (const first of [(db: Kysely<Tables>) => search(db).catch(() => undefined), async () => undefined]) {
      const work = createKysely(driver)
        .transaction()
        .execute(async (db) => {
          await first(db)
          await send(db, sql`insert into notes values (1)`)
        })
      await expect(work).rejects.toThrow(/nonsense/)
      expect(await notes()).toEqual([])
    }
  })

  test('are lost with their connection, and another one goes on', async () => {
    const work = open().transaction(async (db) => {
      await search(db)
      await send(db, sql`insert into notes values (1)`)
      await send(db, sql`select pg_terminate_backend(pg_backend_pid())`)
      await send(db, sql`insert into notes values (2)`)
    }, searching)
    await expect(work).rejects.toMatchObject(unavailable)
    expect(await notes()).toEqual([])
  })

  test('that are not answered give their connection up: it is closed, and whoever waits gets another', async () => {
    const work = open(500).transaction(async (db) => {
      await search(db)
      await send(db, sql`insert into notes values (1)`)
      await send(db, sql`select pg_sleep(60)`)
    }, searching)
    const waiting = notes()
    const closed = once(pool, 'remove')
    await expect(work).rejects.toMatchObject(unavailable)
    expect(await waiting).toEqual([])
    await closed
  })
})

onPostgres('a server that falls silent', ({ pool: openPool }) => {
  test('ends a read, whose connection is not used again', async () => {
    const pool = openPool({ max: 1 })
    const { rows } = openOn(pool)
    const sleeping = openOn(pool, 200).rows({ sql: 'select pg_sleep(60)', parameters: [] })
    await expect(sleeping).rejects.toMatchObject(unavailable)
    expect(pool.totalCount).toBe(0)
    expect((await rows({ sql: 'select 7 as n', parameters: [] })).values).toEqual([[7]])
  })

  test('ends a transaction, which stores nothing', async () => {
    const pool = openPool({ max: 1 })
    const { read } = openOn(pool)
    await sql`create table notes (n integer)`.execute(read)
    const work = openOn(pool, 200).transaction(async (db) => {
      await sql`insert into notes values (1)`.execute(db)
      await sql`select pg_sleep(60)`.execute(db)
    })
    await expect(work).rejects.toMatchObject(unavailable)
    expect((await sql`select * from notes`.execute(read)).rows).toEqual([])
  })
})
