import { join } from 'node:path'
import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { compileChild, nextLine, startChild } from '../test/support/child.js'
import { type OpenEngine, openSqlite, temporaryFolder } from '../test/support/engines.js'
import { fillSchema, makeSchema } from '../test/support/old-schema.js'
import { migrate } from './migrate.js'
import { createSqliteEngine } from './sqlite/create-sqlite-store.js'
import { createFile } from './sqlite/sqlite-file.js'

compileChild('migrate')

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function open(): Promise<OpenEngine> {
  const opened = await openSqlite()
  closing.push(() => opened.close())
  return opened
}

test('four processes may migrate one new file at once', async () => {
  const folder = temporaryFolder()
  closing.push(() => folder.remove())
  const children = [1, 2, 3, 4].map(() => startChild('migrate', join(folder.path, 'payments.db')))
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
})

test('four processes may bring one file of migration 1 up to date at once', async () => {
  const folder = temporaryFolder()
  closing.push(() => folder.remove())
  const path = join(folder.path, 'payments.db')
  const engine = createSqliteEngine(createFile(path, 5_000), Date.now)
  await makeSchema(engine, 1)
  await fillSchema(engine, 1, fixtures.facts())
  await engine.close()
  const children = [1, 2, 3, 4].map(() => startChild('migrate', path))
  const printed = await Promise.all(children.map(nextLine))
  expect(printed).toEqual(Array(4).fill(JSON.stringify([fixtures.integration()])))
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
})

test('each migration is recorded once', async () => {
  const { engine } = await open()
  await migrate(engine)
  await migrate(engine)
  const { rows } = await sql`select version from schema_versions`.execute(engine.read)
  expect(rows).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((version) => ({ version })))
})

test('a schema that is newer than the code is refused and left alone', async () => {
  const { engine } = await open()
  await migrate(engine)
  await engine.transaction((db) => sql`insert into schema_versions values (13)`.execute(db))
  await expect(migrate(engine)).rejects.toThrow(/schema version 13, and this code knows 12/)
})

test('a migration that fails leaves nothing behind', async () => {
  const { engine } = await open()
  await engine.transaction((db) => sql`create table updates (a)`.execute(db))
  await expect(migrate(engine)).rejects.toThrow(/already exists/)
  const { rows } = await sql`select name from sqlite_schema where type = 'table'`.execute(engine.read)
  expect(rows).toEqual([{ name: 'updates' }])
})
