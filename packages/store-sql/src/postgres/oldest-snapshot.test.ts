import pg from 'pg'
import { expect, test } from 'vitest'
import { onOwnPostgres } from '../../test/support/on-postgres.js'
import { createStore } from '../create-store.js'
import { createPostgresEngine } from './postgres-engine.js'

const settings = ['max_prepared_transactions=2', 'autovacuum=off']

onOwnPostgres('the oldest snapshot that keeps dead rows of the outbox', { fsync: false, settings }, (postgres) => {
  const { connect } = postgres

  function open({ user = 'postgres', clock }: { user?: string; clock?: { now(): number } } = {}) {
    const pool = new pg.Pool({ connectionString: postgres.connectionString(user) })
    const engine = createPostgresEngine(pool, { schema: 'payment_integration', clock, end: () => pool.end() })
    const store = createStore(engine)
    postgres.onEnd(() => store.close())
    return () => store.deliveries.oldestSnapshot()
  }

  test('is that of a report: its user and application are named, and its age is that of the transaction', async () => {
    const oldest = open()
    expect(await oldest()).toBeNull()
    const report = await connect({ application_name: 'monthly report' })
    const later = await connect({ application_name: 'later' })
    await report.query('begin isolation level repeatable read; select 1')
    const begun = await connect()
    await begun.query('create table written (n int)')
    await later.query('begin isolation level repeatable read; select 1')
    const found = await oldest()
    const { rows } = await report.query('select extract(epoch from clock_timestamp() - now()) * 1000 as ms')
    const holder = { holder: 'session', databaseUser: 'postgres', application: 'monthly report' }
    expect(found).toEqual({ ...holder, ageMs: expect.any(Number) })
    expect(found?.ageMs).toBeLessThanOrEqual(Number(rows[0].ms))
    await report.query('commit')
    expect((await oldest())?.application).toBe('later')
    await later.query('commit')
    expect(await oldest()).toBeNull()
  })

  test('is a transaction that wrote and waits, without any snapshot', async () => {
    const writer = await connect({ application_name: 'forgotten' })
    await writer.query('begin; create temporary table t (n int)')
    expect(await open()()).toMatchObject({ holder: 'session', application: 'forgotten' })
    await writer.query('rollback')
  })

  test('is a prepared transaction, by its name and owner', async () => {
    const session = await connect()
    await session.query(`begin; create table prepared (n int); prepare transaction 'payroll 7'`)
    const found = { holder: 'prepared transaction', databaseUser: 'postgres', application: 'payroll 7' }
    expect(await open()()).toMatchObject(found)
    await session.query(`rollback prepared 'payroll 7'`)
  })

  test('is none of a VACUUM, whose snapshot keeps no rows', async () => {
    const session = await connect()
    await session.query(`create table wide as select n, repeat('x', 500) as text from generate_series(1, 20000) n`)
    const vacuum = await connect()
    await vacuum.query('set vacuum_cost_delay = 100; set vacuum_cost_limit = 1')
    const running = vacuum.query('vacuum (freeze) wide').catch((error: Error) => error.message)
    await expect
      .poll(async () => (await session.query('select from pg_stat_progress_vacuum')).rowCount, { timeout: 60_000 })
      .toBe(1)
    expect(await open()()).toBeNull()
    await session.query('select pg_cancel_backend(pid) from pg_stat_progress_vacuum')
    expect(await running).toContain('canceling statement')
  })

  test('has an age from its first reading, where the role may not see when it began', async () => {
    const admin = await connect()
    await admin.query('create role blind login')
    let time = 1_000
    const oldest = open({ user: 'blind', clock: { now: () => time } })
    const report = await connect({ application_name: 'report' })
    await report.query('begin isolation level repeatable read; select 1')
    const ages: unknown[] = []
    for (const at of [1_000, 31_000, 95_000]) {
      time = at
      ages.push(await oldest())
    }
    const named = { holder: 'session', databaseUser: 'postgres', application: 'report' }
    expect(ages).toEqual([0, 30_000, 94_000].map((ageMs) => ({ ...named, ageMs })))
    // Another snapshot of the same session is as old as its own first reading.
    await report.query('commit')
    await admin.query('create table other (n int)')
    await report.query('begin isolation level repeatable read; select 1')
    time = 100_000
    expect(await oldest()).toEqual({ ...named, ageMs: 0 })
    await report.query('commit')
  })
})
