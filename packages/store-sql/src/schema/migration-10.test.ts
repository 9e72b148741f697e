import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration10 } from './migration-10.js'

test('the text of migration 10 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration10(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    '36162d5f604241d80c6445557f904c932429a4a0102bfb82de5d351ad9b4ca1b',
  )
})

onBothDatabases((empty, database) => {
  /** The indexes of a table that were made by name. */
  async function indexesOf({ read, differences: { name } }: Engine, table: string): Promise<string[]> {
    const query =
      database === 'SQLite'
        ? `select name from sqlite_schema where type = 'index' and sql is not null and tbl_name = '${table}'`
        : `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
            where not i.indisprimary and i.indrelid = '${name(table)}'::regclass`
    const { rows } = await sql.raw<{ name: string }>(query).execute(read)
    return rows.map((row) => row.name).sort()
  }

  test('of the indexes of verifications the one over names of claims is gone, and no other', async () => {
    const engine = await empty()
    await makeSchema(engine, 7)
    const before = await indexesOf(engine, 'verifications')
    expect(before).toContain('verifications_claim')
    await createStore(engine).migrate()
    const kept = before.filter((index) => index !== 'verifications_claim')
    expect(await indexesOf(engine, 'verifications')).toEqual([...kept, 'verifications_missing'].sort())
  })
})
