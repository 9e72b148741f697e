import { expect, test } from 'vitest'
import { hasBuiltin, loadSqlite } from './sqlite-file.js'

for (const [version, builtin] of [
  ['20.19.0', false],
  ['22.5.1', false],
  ['22.12.0', false],
  ['22.13.0', true],
  ['23.0.0', true],
  ['24.1.0', true],
  ['26.0.0', true],
] as const)
  test(`Node ${version} ${builtin ? 'brings' : 'lacks'} a SQLite without a flag`, () => {
    expect(hasBuiltin(version)).toBe(builtin)
  })

test('the SQLite of this runtime has the features that the store needs', async () => {
  const Database = await loadSqlite()
  const database = new Database(':memory:')
  database.exec('create table t (a integer not null primary key, b blob) strict')
  const rows = database.prepare("insert into t values (?, x'00ff') on conflict do nothing returning a, b").all(7)
  expect(rows).toEqual([{ a: 7, b: new Uint8Array([0, 255]) }])
  database.close()
})
