import { expect, test } from 'vitest'
import { migrationsWithNext } from '../../test/support/next-migration.js'
import { onReleased } from '../../test/support/next-release.js'
import { createSchema, migrate, releasedMigrations } from '../migrations/migrate.js'
import type { Step } from '../schema/migration.js'

onReleased('a migration of PostgreSQL', (database) => {
  const withSteps = (...expand: Step[]) => [...releasedMigrations, { expand, contract: [] }]
  const addTo = (...tables: string[]): Step => ({
    kind: 'statements',
    about: 'add columns',
    statements: ({ integer }, name) =>
      tables.map((table) => `alter table ${name(table)} add column made_up ${integer}`),
  })

  test.each([
    ['statement_timeout', { statement_timeout: 400 }],
    ['lock_timeout', { lock_timeout: 400 }],
    ['transaction_timeout', { options: '-c transaction_timeout=400ms' }],
  ])('takes longer than the %s of the host’s pool', async (_, options) => {
    await database().fill(1)
    const steps = withSteps(
      addTo('payments'),
      { kind: 'statements', about: 'sleep', statements: () => ['select pg_sleep(0.8)'] },
      {
        kind: 'backfill',
        about: 'sleep at a row',
        table: 'payments',
        set: 'made_up = 1',
        where: 'pg_sleep(0.8) is not null',
      },
    )
    await migrate(database().openEngine(options), steps)
    await createSchema(database().openEngine(), steps).check()
  })

  test('a step that waits for one table blocks no other one for longer, and goes on once it gets the lock', async () => {
    const [holder, writer] = [await database().connect(), await database().connect()]
    await holder.query('begin; lock table released.payments in access share mode')
    let wrote: Promise<unknown> | undefined
    const events: string[] = []
    await migrate(database().openEngine(), withSteps(addTo('leases', 'payments')), ({ event }) => {
      events.push(event)
      if (event !== 'waiting') return
      wrote ??= writer
        .query("insert into released.leases (name, holder, expires_at) values ('a', 'b', 1)")
        .then(() => holder.query('rollback'))
    })
    await wrote
    expect(events).toEqual(['begun', ...events.slice(1, -1).map(() => 'waiting'), 'done'])
    expect(events.length).toBeGreaterThan(2)
  })

  test('a backfill waits for rows that another session holds', async () => {
    await database().fill(10)
    await database().runSteps(1)
    const holder = await database().connect()
    await holder.query('begin; select id from released.payments for update')
    const events: string[] = []
    let released: Promise<unknown> | undefined
    await migrate(database().openEngine(), migrationsWithNext, ({ event }) => {
      events.push(event)
      if (event === 'waiting') released ??= holder.query('rollback')
    })
    await released
    expect(events).toContain('waiting')
    await createSchema(database().openEngine(), migrationsWithNext).check()
  })

  test('a role that may not change tables changes nothing, and may still check and plan', async () => {
    const admin = await database().connect()
    await admin.query(`do $$ begin create role worker login; exception when duplicate_object then null; end $$;
        grant usage on schema released to worker; grant select on all tables in schema released to worker`)
    const worker = database().openEngine({ options: '-c role=worker' })
    await createSchema(worker).check()
    await migrate(worker)
    expect((await createSchema(worker, migrationsWithNext).plan()).expand).toHaveLength(3)
    await expect(migrate(worker, migrationsWithNext)).rejects.toMatchObject({ code: '42501' })
    const { rows } = await admin.query('select version from released.schema_versions')
    expect(rows.map(({ version }) => Number(version))).toEqual([200])
    await admin.query('drop owned by worker')
  })

  test('a pool of one connection is enough', async () => {
    await migrate(database().openEngine({ max: 1 }), migrationsWithNext)
    await createSchema(database().openEngine(), migrationsWithNext).check()
  })

  test.each([
    ['of a process that is gone ends', 300],
    ['that was taken while the clock of the database was an hour ahead is free', 3_600_000],
  ])('a lease %s, and the next one migrates', async (_, endsInMs) => {
    const admin = await database().connect()
    await admin.query(`update released.locks set holder = 'gone',
        expires_at = extract(epoch from statement_timestamp()) * 1000 + ${endsInMs} where name = 'migration'`)
    await migrate(database().openEngine(), migrationsWithNext)
    const { rows } = await admin.query("select holder from released.locks where name = 'migration'")
    expect(rows).toEqual([{ holder: null }])
  })

  test('with all indexes of the console there, a start of the last release waits for no migration', async () => {
    const last = database().openLast()
    await last.console.prepare()
    const migrator = await database().connect()
    await migrator.query(`update released.locks set holder = 'other',
        expires_at = extract(epoch from statement_timestamp()) * 1000 + 500000 where name = 'migration'`)
    await last.console.prepare()
    await migrator.query('drop index released.payments_memo')
    const prepared = last.console.prepare()
    const waiting = Promise.race([prepared.then(() => 'ready'), migrator.query('select 1').then(() => 'waits')])
    expect(await waiting).toBe('waits')
    await migrator.query('update released.locks set holder = null')
    await prepared
  })

  test('two migrators of one process share a pool of two connections', async () => {
    const engine = database().openEngine({ max: 2 })
    await Promise.all([migrate(engine, migrationsWithNext), migrate(engine, migrationsWithNext)])
    await createSchema(engine, migrationsWithNext).check()
  })
})
