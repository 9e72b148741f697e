import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration11 } from './migration-11.js'

test('the text of migration 11 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration11(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    '63d0a4b3ddc339d6d5da53a7a45bf0edb45326c0fa9a04d7df26523e8050710d',
  )
})

onBothDatabases((empty) => {
  test('an attempt of before replaces nobody, and is otherwise what it was', async () => {
    const engine = await empty()
    const { transaction, differences } = engine
    await makeSchema(engine, 10)
    await transaction(async (db) => {
      await sql
        .raw(
          `insert into ${differences.name('redemptions')}
            (external_user_id, account_id, number, integration, email_key, level_name, is_findable, claimed_at, state, applicant_id)
            values ('"name-1"', '"account"', 1, 'shop', 'key', null, 1, 7, 'unknown', null)`,
        )
        .execute(db)
    })
    const store = createStore(engine)
    await store.migrate()
    expect(await store.transaction((tx) => tx.verifications.redemption('name-1'))).toStrictEqual({
      ...{ externalUserId: 'name-1', accountId: 'account', number: 1, integrationAddress: 'shop', emailKey: 'key' },
      ...{ levelName: null, isFindable: true, claimedAt: 7, replaces: null, state: 'unknown', applicantId: null },
    })
  })
})
