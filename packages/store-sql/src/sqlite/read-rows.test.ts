import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../test/support/engines.js'
import { createHandle, loadSqlite } from './sqlite-file.js'

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
