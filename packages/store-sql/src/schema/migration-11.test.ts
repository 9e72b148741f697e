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
    '8fc4b2406402d29f0421ff4cabfbf1271fa76d24049ec7ef68b6511f5bedf93d',
  )
})

onBothDatabases((empty) => {
  test('an attempt of before is what it was, and the newest open one replaces what its account has while that has a claim', async () => {
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
              ('"name-3"', '"another"', 1, 'shop', 'key', null, 1, 7, 'attached', null),
              ('"name-4"', '"looking"', 1, 'shop', 'key', null, 0, 7, 'unresolved', null),
              ('"name-5"', '"idle"', 1, 'shop', 'key', null, 1, 7, 'unknown', null)`,
        )
        .execute(db)
      await sql
        .raw(
          `insert into ${differences.name('verifications')} (account_id, attempts, donor, applicant_id, claim_name)
            values ('"account"', 2, 'shop', '"applicant"', '"name-2"'), ('"another"', 1, 'shop', '"of another"', '"name-3"'),
              ('"looking"', 2, 'shop', '"of looking"', '"a look-up"'), ('"idle"', 1, 'shop', '"of idle"', null)`,
        )
        .execute(db)
    })
    const store = createStore(engine)
    await store.migrate()
    const redemption = (name: string) => store.transaction((tx) => tx.verifications.redemption(name))
    expect(await redemption('name-1')).toStrictEqual({
      ...{ externalUserId: 'name-1', accountId: 'account', number: 1, integrationAddress: 'shop', emailKey: 'key' },
      ...{ levelName: null, isFindable: true, claimedAt: 7, replaces: null, takenBy: null },
      ...{ state: 'unknown', applicantId: null },
    })
    expect(await redemption('name-2')).toMatchObject({ replaces: 'applicant', state: 'claimed' })
    expect(await redemption('name-3')).toMatchObject({ replaces: null, state: 'attached' })
    expect(await redemption('name-4')).toMatchObject({ replaces: 'of looking' })
    expect(await redemption('name-5')).toMatchObject({ replaces: null })
  })

  test('what an attempt of before came to is where it went, and else goes to who has its address, but for who proved that', async () => {
    const engine = await empty()
    const { transaction, differences } = engine
    await makeSchema(engine, 10)
    const attempts = [
      ['moved', 'first', 'one', 'attached', '"applicant"'],
      ['open', 'placeholder', 'one', 'unknown', null],
      ['own', 'owner', 'one', 'unknown', null],
      ['proved', 'former', 'one', 'unknown', null],
      ['unowned', 'carrier', 'two', 'claimed', null],
      ['given up unproved', 'squatter', 'three', 'claimed', null],
    ] as const
    await transaction(async (db) => {
      const run = (statement: string) => sql.raw(statement).execute(db)
      for (const [name, account, key, state, applicant] of attempts)
        await run(`insert into ${differences.name('redemptions')}
          (external_user_id, account_id, number, integration, email_key, level_name, is_findable, claimed_at, state, applicant_id)
          values ('"${name}"', '"${account}"', 1, 'shop', '${key}', null, 1, 7, '${state}', ${applicant === null ? 'null' : `'${applicant}'`})`)
      await run(`insert into ${differences.name('verifications')} (account_id, attempts, donor, applicant_id)
        values ('"nobody"', 0, 'shop', '"applicant"')`)
      await run(`insert into ${differences.name('identity_accounts')}
        (email_key, account_id, email_key_version, email_sealed, created_at, resolved_at)
        values ('one', '"owner"', 1, '', 1, 1), ('two', '"carrier"', 1, '', 1, 1), ('three', '"placeholder"', 1, '', 1, 1)`)
      await run(`insert into ${differences.name('account_events')} (at, action, email_key, account_id)
        values (1, 'claimed', 'one', '"former"'), (2, 'claimed', 'one', '"owner"'), (3, 'claimed', 'two', '"else"'), (4, 'claimed', 'two', '"squatter"')`)
    })
    const store = createStore(engine)
    await store.migrate()
    const takers = await store.transaction(async (tx) => {
      const found = []
      for (const [name] of attempts) found.push((await tx.verifications.redemption(name))?.takenBy)
      return found
    })
    expect(takers).toEqual(['nobody', 'owner', null, null, null, 'placeholder'])
  })
})
