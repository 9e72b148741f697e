import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../test/support/engines.js'
import { createHandle, createMutex, hasBuiltin, loadSqlite } from './sqlite-file.js'

test.each(['20.19.0', '22.5.1', '22.12.0'])('Node %s lacks a SQLite without a flag', (version) =>
  expect(hasBuiltin(version)).toBe(false),
)
test.each(['22.13.0', '23.0.0', '24.1.0', '26.0.0'])('Node %s brings a SQLite without a flag', (version) =>
  expect(hasBuiltin(version)).toBe(true),
)

test('the SQLite of this runtime has the features that the store needs', async () => {
  const Database = await loadSqlite()
  const database = new Database(':memory:')
  database.exec('create table t (a integer not null primary key, b blob) strict')
  const rows = database.prepare("insert into t values (?, x'00ff') on conflict do nothing returning a, b").all(7)
  expect(rows).toEqual([{ a: 7, b: new Uint8Array([0, 255]) }])
  database.close()
})

test('a column added by another connection is read under its name, also by earlier prepared statements', async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const Database = await loadSqlite()
  const [reader, writer] = [1, 2].map(() => createHandle(new Database(join(folder.path, 'rows.db'))))
  if (reader === undefined || writer === undefined) throw new Error('Two connections were opened.')
  writer.exec('create table t (a integer)')
  writer.exec('insert into t values (1)')
  const statements = ['select * from t', 'select * from t where a > 0']
  expect(reader.all(statements[0] ?? '')).toEqual([{ a: 1 }])
  writer.exec('alter table t add column b integer')
  writer.exec('update t set b = 2')
  for (const sql of statements) {
    expect(reader.all(sql)).toEqual([{ a: 1, b: 2 }])
    expect(reader.raw(sql, [])).toEqual({ columns: ['a', 'b'], values: [[1, 2]] })
  }
  reader.close()
  writer.close()
})

test('one caller at a time has the mutex, in the order of the requests', async () => {
  const turn = createMutex()
  const events: string[] = []
  await Promise.all(
    [1, 2, 3].map(async (n) => {
      const release = await turn()
      events.push(`start ${n}`)
      await new Promise((resolve) => setImmediate(resolve))
      events.push(`end ${n}`)
      release()
    }),
  )
  expect(events).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3'])
})
