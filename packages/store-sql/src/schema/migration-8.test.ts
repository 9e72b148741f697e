import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { makeSchema } from '../../test/support/old-schema.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { postgresTypes, sqliteTypes } from './column-types.js'
import { migration8 } from './migration-8.js'

test('the text of migration 8 is what it was', () => {
  const text = [sqliteTypes, postgresTypes].map((types) => migration8(types, (table) => `"${table}"`))
  expect(createHash('sha256').update(JSON.stringify(text)).digest('hex')).toBe(
    '9beeb7152678df8ef69099d96ceb8f32487e704182c3e9a6cea84454ebc9c38f',
  )
})

const shop = `0x${'a1'.repeat(20)}`
const otherShop = `0x${'b2'.repeat(20)}`
const emailKey = '7'.repeat(64)

/** Verifications as migration 6 kept them: attached, retried after RED, claimed with and without a trace in the log, refused. */
async function fill({ transaction, differences: { name } }: Engine): Promise<void> {
  await transaction(async (db) => {
    const attempt = (at: number, account: string, by: string, outcome: string, externalUserId: string | null) =>
      sql`insert into ${sql.raw(name('share_attempts'))} (at, integration, email_key, account_id, outcome, external_user_id)
        values (${at}, ${by}, ${emailKey}, ${`"${account}"`}, ${outcome}, ${externalUserId})`.execute(db)
    const verification = (account: string, attempts: number, fields: Record<string, string | number>) => {
      const columns = Object.keys(fields).map((column) => `, ${column}`)
      const values = Object.values(fields).map((value) => sql`, ${value}`)
      return sql`insert into ${sql.raw(name('verifications'))} (account_id, attempts${sql.raw(columns.join(''))})
        values (${`"${account}"`}, ${attempts}${sql.join(values, sql``)})`.execute(db)
    }
    const claim = (externalUserId: string, by: string) => ({
      ...{ claim_token: '"token"', claim_by: by, claim_name: `"${externalUserId}"`, claim_until: 1 },
    })
    await attempt(1, 'retried', shop, 'redeemed', '"retried-1"')
    await attempt(2, 'retried', shop, 'in_flight', null)
    await attempt(3, 'retried', shop, 'rejected', '"retried-2"')
    await attempt(4, 'retried', shop, 'redeemed', '"retried-3"')
    await verification('retried', 3, { donor: shop, applicant_id: '"x"' })
    await attempt(5, 'lost', otherShop, 'unknown', '"lost-1"')
    // The same name was retried, long after its token may have been redeemed.
    await attempt(3_600_000, 'lost', shop, 'unavailable', '"lost-1"')
    await verification('lost', 1, claim('lost-1', shop))
    await verification('silent', 1, claim('silent-1', otherShop))
    await attempt(6, 'refused', shop, 'rejected', '"refused-1"')
    await verification('refused', 1, {})
  })
}

onBothDatabases((empty) => {
  test('names of before are kept with whose they were, and no name is given twice', async () => {
    const engine = await empty()
    await makeSchema(engine, 7)
    await fill(engine)
    const store = createStore(engine)
    await Promise.all([1, 2, 3, 4].map(() => store.migrate()))
    const attempts = await store.verifications.redemptions({ limit: 100 })
    const kept = attempts.map(({ externalUserId, accountId, number, integrationAddress, state }) =>
      [externalUserId, accountId, number, integrationAddress, state].join(' '),
    )
    expect(kept.sort()).toEqual([
      `lost-1 lost 1 ${shop} unknown`,
      `refused-1 refused 1 ${shop} refused`,
      `retried-1 retried 1 ${shop} attached`,
      `retried-2 retried 2 ${shop} refused`,
      `retried-3 retried 3 ${shop} attached`,
      `silent-1 silent 2 ${otherShop} unknown`,
    ])
    const verifications = await store.transaction((tx) =>
      Promise.all(['retried', 'lost', 'silent', 'refused'].map((account) => tx.verifications.lock(account))),
    )
    expect(verifications.map(({ attempt, attempts: newest }) => [attempt, newest])).toEqual([
      [3, 3],
      [null, 2],
      [null, 2],
      [null, 1],
    ])
    const [doubtful] = await store.transaction((tx) =>
      tx.verifications.doubtfulRedemptions({ accountId: 'silent', afterNumber: 0, absentSince: 0, limit: 10 }),
    )
    expect(doubtful).toMatchObject({ externalUserId: 'silent-1', isFindable: false, claimedAt: 0 })
    const under = attempts.filter(({ state }) => state === 'unknown')
    expect(under.map(({ externalUserId, claimedAt, isFindable }) => [externalUserId, claimedAt, isFindable])).toEqual([
      ['silent-1', 0, false],
      ['lost-1', 0, false],
    ])
    const over = attempts.find(({ externalUserId }) => externalUserId === 'retried-3')
    expect(over).toMatchObject({ claimedAt: 4, isFindable: true })
    const named = { applicantId: 'y', externalUserId: 'lost-1' }
    const known = await store.transaction((tx) => tx.verifications.lockByApplicant(named))
    expect(known?.verification.accountId).toBe('lost')
  })
})
