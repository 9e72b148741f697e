import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { compileChild, nextLine, startChild } from '../../test/support/child.js'
import { temporaryFolder } from '../../test/support/engines.js'
import { migrationsWithNext, nextMigration } from '../../test/support/next-migration.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { createSqliteEngine, createSqliteStore } from '../sqlite/create-sqlite-store.js'
import { createSqliteFile } from '../sqlite/sqlite-file.js'
import { createSchema, migrate, releasedMigrations, writeVersion } from './migrate.js'

compileChild('migrate')

function newFile(): string {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  return join(folder.path, 'payments.db')
}

test('four processes may migrate one new file at once', async () => {
  const path = newFile()
  const children = [1, 2, 3, 4].map(() => startChild('migrate', path))
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
})

test('four processes may bring one file to the next version at once, and it keeps its rows', async () => {
  const path = newFile()
  const store = createSqliteStore({ path })
  await store.migrate()
  await fixtures.insertIntegration(store)
  await store.close()
  const children = [1, 2, 3, 4].map(() => startChild('migrate', path, 'next'))
  const printed = await Promise.all(children.map(nextLine))
  expect(printed).toEqual(Array(4).fill(JSON.stringify([fixtures.integration()])))
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
  const engine = createSqliteEngine(createSqliteFile(path, 5_000), Date)
  onTestFinished(() => engine.close())
  expect(await versions(engine)).toEqual([200, 201])
})

/** Every version that was recorded, in order. */
async function versions({ dialect: { name }, read }: Engine): Promise<number[]> {
  const query = `select version from ${name('schema_versions')} order by version`
  const { rows } = await sql.raw<{ version: unknown }>(query).execute(read)
  return rows.map(({ version }) => Number(version))
}

onBothDatabases((empty) => {
  const run = ({ transaction }: Engine, statement: string) => transaction((db) => sql.raw(statement).execute(db))
  const plan = async (engine: Engine) => {
    const { expand, contract } = await createSchema(engine, migrationsWithNext).plan()
    return { expand: expand.map(({ about }) => about), contract: contract.map(({ about }) => about) }
  }

  test('an empty database comes to version 200 in one step', async () => {
    const engine = await empty()
    await expect(createSchema(engine).check()).rejects.toThrow(
      'The database has no tables yet, and this release needs version 200. Migrate it first: payment-integration migrate apply.',
    )
    await migrate(engine)
    await migrate(engine)
    await createSchema(engine).check()
    expect(await versions(engine)).toEqual([200])
  })

  test('an empty database gets all steps at once, because no release uses what the last of them removes', async () => {
    const engine = await empty()
    expect((await plan(engine)).expand).toHaveLength(4)
    await migrate(engine, migrationsWithNext)
    expect(await versions(engine)).toEqual([200, 201])
    expect(await plan(engine)).toEqual({ expand: [], contract: [] })
    await expect(run(engine, `select made_up from ${engine.dialect.name('leases')}`)).rejects.toThrow(/made_up/)
  })

  test('an empty database runs its steps in the order of an upgraded one: all that expand, then all that contract', async () => {
    const engine = await empty()
    const step = (about: string) => ({ kind: 'statements', about, statements: () => [] }) as const
    const later = { expand: [step('expand 202')], contract: [step('contract 202')] }
    const order: string[] = []
    await migrate(engine, [...migrationsWithNext, later], ({ version, event }) => {
      if (event === 'done') order.push(String(version))
    })
    expect(order).toEqual(['200', '201', '201', '201', '202', '201', '201', '202'])
  })

  test('the plan names each step that is not done, and the steps report themselves', async () => {
    const engine = await empty()
    await migrate(engine)
    const expand = ['add a table and three columns', 'fill the column of payments', 'index it']
    const contract = ['fill what the last release wrote', 'remove the column of leases']
    expect(await plan(engine)).toEqual({ expand, contract })
    const told: string[] = []
    await migrate(engine, migrationsWithNext, ({ version, about, event }) => told.push(`${version} ${about}: ${event}`))
    expect(told).toEqual(expand.flatMap((about) => [`201 ${about}: begun`, `201 ${about}: done`]))
    expect(await plan(engine)).toEqual({ expand: [], contract })
    await createSchema(engine, migrationsWithNext).contract()
    expect(await plan(engine)).toEqual({ expand: [], contract: [] })
  })

  test('a database of version 200 comes to 201 once, by four callers at once, and keeps its rows', async () => {
    const engine = await empty()
    const { dialect, read } = engine
    await migrate(engine)
    await run(engine, `insert into ${dialect.name('leases')} (name, holder, expires_at) values ('a', 'b', 1)`)
    await Promise.all([1, 2, 3].map(() => migrate(engine, migrationsWithNext)))
    await migrate(engine, migrationsWithNext)
    expect(await versions(engine)).toEqual([200, 201])
    const { rows } = await sql.raw<object>(`select * from ${dialect.name('leases')}`).execute(read)
    expect(rows.map((row) => Object.values(row).map(String))).toEqual([['a', 'b', '1', '7']])
  })

  test('the last release works on the schema of the next one until that has removed what it needs', async () => {
    const engine = await empty()
    await migrate(engine)
    const last = createSchema(engine)
    const next = createSchema(engine, migrationsWithNext)
    for (const call of [next.check, next.contract])
      await expect(call()).rejects.toMatchObject({ code: 'ERR_STORE_SCHEMA' })
    await migrate(engine, migrationsWithNext)
    await last.check()
    await migrate(engine)
    await next.contract()
    const message =
      'The database has schema version 201, which lacks what this release needs (version 200); run the newer release.'
    await expect(last.check()).rejects.toThrow(message)
    await expect(migrate(engine)).rejects.toThrow(message)
    await next.check()
  })

  test.each([
    [201, 'expand', false, true],
    [201, 'expand', true, true],
    [250, 'expand', true, true],
    [201, 'contract', false, false],
    [201, 'contract', true, false],
  ] as const)(
    'version %i of a newer release, %s, done: %s, is accepted: %s',
    async (version, phase, isDone, isAccepted) => {
      const engine = await empty()
      await migrate(engine)
      const state = { version, phase, isDone, steps: 1, position: 0 }
      await engine.transaction((db) => writeVersion(db, state))
      const rejected = { code: 'ERR_STORE_SCHEMA', retryable: false }
      for (const call of [() => migrate(engine), createSchema(engine).plan, createSchema(engine).check])
        if (isAccepted) await call()
        else await expect(call()).rejects.toMatchObject(rejected)
      expect(await versions(engine)).toEqual([200, version])
    },
  )

  test.each([1, 13, 99, 100])('version %i of a development release is rejected and unchanged', async (version) => {
    const engine = await empty()
    const { types, name } = engine.dialect
    await engine.runExclusively(async () => undefined)
    // Its table of versions had no other column.
    await run(engine, `create table ${name('schema_versions')} (version ${types.integer} not null primary key)`)
    await run(engine, `insert into ${name('schema_versions')} (version) values (${version})`)
    await expect(createStore(engine).migrate()).rejects.toMatchObject({
      name: 'StoreError',
      code: 'ERR_STORE_SCHEMA',
      retryable: false,
      message: `The database has schema version ${version} of a development release; start with an empty database.`,
    })
    expect(await versions(engine)).toEqual([version])
    expect(await engine.transaction((db) => engine.dialect.hasTable(db, 'payments'))).toBe(false)
  })

  test('a first migration that fails leaves nothing behind', async () => {
    const engine = await empty()
    const { name, hasTable } = engine.dialect
    await engine.runExclusively(async () => undefined)
    await run(engine, `create table ${name('updates')} (a integer)`)
    await expect(migrate(engine)).rejects.toThrow(/already exists/)
    for (const table of ['schema_versions', 'payments'])
      expect(await engine.transaction((db) => hasTable(db, table))).toBe(false)
  })

  test('a step that fails half-way changes nothing, and succeeds once the cause is removed', async () => {
    const engine = await empty()
    const { name, hasTable } = engine.dialect
    await migrate(engine)
    await run(engine, `alter table ${name('leases')} add column made_up integer`)
    await expect(migrate(engine, migrationsWithNext)).rejects.toThrow(/made_up/)
    expect(await versions(engine)).toEqual([200])
    expect(await engine.transaction((db) => hasTable(db, 'made_up'))).toBe(false)
    await run(engine, `alter table ${name('leases')} drop column made_up`)
    await migrate(engine, migrationsWithNext)
    expect(await versions(engine)).toEqual([200, 201])
  })

  test('a backfill goes on where it was interrupted', async () => {
    const engine = await empty()
    const { name } = engine.dialect
    const store = createStore(engine)
    await store.migrate()
    const payments = fixtures.numbered(20)
    await store.transaction((tx) => tx.upsertPayments(payments))
    const begun = { expand: nextMigration.expand.slice(0, 1), contract: [] }
    await migrate(engine, [...releasedMigrations, begun])
    const at = { version: 201, phase: 'expand', steps: 1, isDone: false, position: 12 } as const
    await engine.transaction((db) => writeVersion(db, at))
    await migrate(engine, migrationsWithNext)
    const query = sql.raw<{ made_up: unknown }>(`select made_up from ${name('payments')} order by id`)
    const filled = (await query.execute(engine.read)).rows.map((row) => row.made_up)
    const expected = [...Array(12).fill(null), 20, 21, 22, 23, 24, 25, 26, 27]
    expect(filled.map((value) => value && Number(value))).toEqual(expected)
  })

  test('the contract phase fills the rows that the last release wrote, and reports each batch once', async () => {
    const engine = await empty()
    const { name } = engine.dialect
    const store = createStore(engine)
    await store.migrate()
    await migrate(engine, migrationsWithNext)
    const payments = fixtures.numbered(1_500)
    await store.transaction((tx) => tx.upsertPayments(payments))
    const told: string[] = []
    await createSchema(engine, migrationsWithNext).contract(({ event, share }) => told.push(`${event} ${share}`))
    const progress = told.filter((each) => each.startsWith('progress'))
    expect(progress.at(-1)).toBe('progress 1')
    expect(new Set(progress).size).toBe(progress.length)
    expect(told.filter((each) => each.startsWith('begun'))).toHaveLength(2)
    const query = sql.raw(`select 1 from ${name('payments')} where made_up is null or made_up <> id + 7`)
    expect((await query.execute(engine.read)).rows).toEqual([])
  })
})
