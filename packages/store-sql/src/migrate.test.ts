import { join } from 'node:path'
import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { onBothDatabases } from '../test/support/both-databases.js'
import { compileChild, nextLine, startChild } from '../test/support/child.js'
import { temporaryFolder } from '../test/support/engines.js'
import { migrationsWithNext } from '../test/support/next-migration.js'
import { createStore } from './create-store.js'
import type { Engine } from './engine.js'
import { migrate } from './migrate.js'
import { createSqliteEngine, createSqliteStore } from './sqlite/create-sqlite-store.js'
import { createFile } from './sqlite/sqlite-file.js'

compileChild('migrate')

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function newFile(): string {
  const folder = temporaryFolder()
  closing.push(() => folder.remove())
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
  await store.integrations.insert(fixtures.integration())
  await store.close()
  const children = [1, 2, 3, 4].map(() => startChild('migrate', path, 'next'))
  const printed = await Promise.all(children.map(nextLine))
  expect(printed).toEqual(Array(4).fill(JSON.stringify([fixtures.integration()])))
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
  const engine = createSqliteEngine(createFile(path, 5_000), Date.now)
  closing.unshift(() => engine.close())
  expect(await versions(engine)).toEqual([100, 101])
})

/** Every version that was recorded, in order. */
async function versions({ dialect: { name }, read }: Engine): Promise<number[]> {
  const query = `select version from ${name('schema_versions')} order by version`
  const { rows } = await sql.raw<{ version: unknown }>(query).execute(read)
  return rows.map(({ version }) => Number(version))
}

onBothDatabases((empty) => {
  const run = ({ transaction }: Engine, statement: string) => transaction((db) => sql.raw(statement).execute(db))

  /** A database that says it has a version, and has no other table. */
  async function ofVersion(version: number): Promise<Engine> {
    const engine = await empty()
    const { types, name, beginMigration } = engine.dialect
    await engine.transaction(async (db) => {
      await beginMigration(db)
      await sql
        .raw(`create table ${name('schema_versions')} (version ${types.integer} not null primary key)`)
        .execute(db)
      await sql.raw(`insert into ${name('schema_versions')} (version) values (${version})`).execute(db)
    })
    return engine
  }

  test('an empty database comes to version 100 in one step', async () => {
    const engine = await empty()
    await migrate(engine)
    await migrate(engine)
    expect(await versions(engine)).toEqual([100])
  })

  test('an empty database comes to version 101 in two steps', async () => {
    const engine = await empty()
    await migrate(engine, migrationsWithNext)
    expect(await versions(engine)).toEqual([100, 101])
  })

  test('a database of version 100 comes to 101 once, by four callers at once, and keeps its rows', async () => {
    const engine = await empty()
    const { dialect, read } = engine
    await migrate(engine)
    await run(engine, `insert into ${dialect.name('leases')} (name, holder, expires_at) values ('a', 'b', 1)`)
    await Promise.all([1, 2, 3, 4].map(() => migrate(engine, migrationsWithNext)))
    await migrate(engine, migrationsWithNext)
    expect(await versions(engine)).toEqual([100, 101])
    const { rows } = await sql.raw<object>(`select * from ${dialect.name('leases')}`).execute(read)
    expect(rows.map((row) => Object.values(row).map(String))).toEqual([['a', 'b', '1', '7']])
  })

  test.each([101, 250])('unknown version %i is rejected and unchanged', async (version) => {
    const engine = await ofVersion(version)
    await expect(migrate(engine)).rejects.toThrow(
      `The database has schema version ${version}, and this code knows 100; run the newer release.`,
    )
    expect(await versions(engine)).toEqual([version])
  })

  test.each([1, 12, 13, 99])('version %i of a development release is rejected and unchanged', async (version) => {
    const engine = await ofVersion(version)
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
    const { name, beginMigration, hasTable } = engine.dialect
    await engine.transaction((db) => beginMigration(db))
    await run(engine, `create table ${name('updates')} (a integer)`)
    await expect(migrate(engine)).rejects.toThrow(/already exists/)
    for (const table of ['schema_versions', 'payments'])
      expect(await engine.transaction((db) => hasTable(db, table))).toBe(false)
  })

  test('a later migration that fails half-way changes nothing, and succeeds once the cause is removed', async () => {
    const engine = await empty()
    const { name, hasTable } = engine.dialect
    await migrate(engine)
    await run(engine, `alter table ${name('leases')} add column made_up integer`)
    await expect(migrate(engine, migrationsWithNext)).rejects.toThrow(/made_up/)
    expect(await versions(engine)).toEqual([100])
    expect(await engine.transaction((db) => hasTable(db, 'made_up'))).toBe(false)
    await run(engine, `alter table ${name('leases')} drop column made_up`)
    await migrate(engine, migrationsWithNext)
    expect(await versions(engine)).toEqual([100, 101])
  })
})
