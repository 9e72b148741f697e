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
    '1767d2dc078ea8457333dcd7363532bc72991eef631f24b722a13f8208f5ec8e',
  )
})

onBothDatabases((empty) => {
  test('an attempt of before is what it was, and replaces what its account has where it is the one that the claim is for', async () => {
    const engine = await empty()
    const { transaction, differences } = engine
    await makeSchema(engine, 10)
    await transaction(async (db) => {
      await sql
        .raw(
          `insert into ${differences.name('redemptions')}
            (external_user_id, account_id, number, integration, email_key, level_name, is_findable, claimed_at, state, applicant_id)
            values ('"name-1"', '"account"', 1, 'shop', 'key', null, 1, 7, 'unknown', null),
              ('"name-2"', '"account"', 2, 'shop', 'key', null, 1, 7, 'claimed', null),
              ('"name-3"', '"another"', 1, 'shop', 'key', null, 1, 7, 'attached', null)`,
        )
        .execute(db)
      await sql
        .raw(
          `insert into ${differences.name('verifications')} (account_id, attempts, donor, applicant_id, claim_name)
            values ('"account"', 2, 'shop', '"applicant"', '"name-2"'), ('"another"', 1, 'shop', '"of another"', '"name-3"')`,
        )
        .execute(db)
    })
    const store = createStore(engine)
    await store.migrate()
    const redemption = (name: string) => store.transaction((tx) => tx.verifications.redemption(name))
    expect(await redemption('name-1')).toStrictEqual({
      ...{ externalUserId: 'name-1', accountId: 'account', number: 1, integrationAddress: 'shop', emailKey: 'key' },
      ...{ levelName: null, isFindable: true, claimedAt: 7, replaces: null, state: 'unknown', applicantId: null },
    })
    expect(await redemption('name-2')).toMatchObject({ replaces: 'applicant', state: 'claimed' })
    expect(await redemption('name-3')).toMatchObject({ replaces: null, state: 'attached' })
  })
})
