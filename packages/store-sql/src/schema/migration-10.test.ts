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
    '434f1d56635df66f4ae4b4ac51a415e602eee64419afe5bea4c3654a0c547bb3',
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

  test('the attempt of an applicant of before is known by it', async () => {
    const engine = await empty()
    const { transaction, differences } = engine
    await makeSchema(engine, 7)
    await transaction(async (db) => {
      for (const statement of [
        `insert into ${differences.name('share_attempts')} (at, integration, email_key, account_id, outcome, external_user_id)
          values (1, 'shop', 'key', '"account"', 'redeemed', '"name-1"'), (2, 'shop', 'key', '"account"', 'redeemed', '"name-2"'),
            (3, 'shop', 'key', '"another"', 'redeemed', '"another-1"')`,
        `insert into ${differences.name('verifications')} (account_id, attempts, donor, applicant_id)
          values ('"account"', 2, 'shop', '"applicant"'), ('"another"', 1, 'shop', null)`,
      ])
        await sql.raw(statement).execute(db)
    })
    const store = createStore(engine)
    await store.migrate()
    const attempts = await store.verifications.redemptions({ limit: 10 })
    expect(attempts.map(({ externalUserId, applicantId }) => [externalUserId, applicantId])).toEqual([
      ['another-1', null],
      ['name-2', 'applicant'],
      ['name-1', null],
    ])
    const found = await store.transaction((tx) => tx.verifications.redemptionOf('applicant'))
    expect(found).toMatchObject({ externalUserId: 'name-2', emailKey: 'key' })
  })

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
