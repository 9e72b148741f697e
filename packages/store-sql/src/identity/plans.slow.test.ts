import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { postgresScans, sqlitePlan } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { findAddressOwnerQuery } from './accounts.js'
import { dueLookUpsQuery, duePollsQuery, missingQuery, subjectsQuery } from './identity-store.js'
import { attachedQuery, newestQuery, openQuery } from './redemptions.js'
import { byApplicantQuery, personsQuery } from './subjects.js'

const rows = 3_000
const emailKey = '7'.padStart(64, '0')

/** 3,000 subjects of accounts, each with a redemption; ten polls and ten look-ups are due. */
async function fill({ transaction, dialect: { name } }: Engine): Promise<void> {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})`
  const zeros = '0'.repeat(64)
  const key = `substr('${zeros}' || i, length('${zeros}' || i) - 63)`
  const id = (letter: string) => `'"${letter}' || i || '"'`
  const due = 'case when i % 2 = 0 then i + 4000000000000 when i < 20 then i end'
  await transaction(async (db) => {
    for (const statement of [
      `insert into ${name('identity_subjects')}
          (id, email_key, account_id, proved, closed, redemptions, applicant_id, missing_confirmed, revision, next_poll_at)
        ${numbers} select ${id('s')}, ${key}, ${id('u')}, 1, 0, 1, ${id('a')}, case when i < 10 then 0 end, 1, ${due} from n`,
      `insert into ${name('identity_redemptions')} (external_user_id, subject_id, number, integration, is_findable, started_at,
          leased_until, state, applicant_id, next_look_up_at)
        ${numbers} select ${id('n')}, ${id('s')}, 1, 'shop', 1, i, i, case when i % 9 = 0 then 'unknown' else 'attached' end,
          ${id('a')}, ${due} from n`,
      `insert into ${name('identity_shares')} (at, integration, subject_id, outcome)
        ${numbers} select i, 'shop', ${id('s')}, 'redeemed' from n`,
      `insert into ${name('identity_verdicts')} (noted_at, subject_id, applicant_id, source, change, outcome)
        ${numbers} select i, ${id('s')}, ${id('a')}, 'webhook', 'review', 'applied' from n`,
      // Many carry one address.
      `insert into ${name('identity_accounts')} (account_id, email_key, email_verified, created_at)
        ${numbers} select ${id('u')}, case when i % 2 = 0 then '${emailKey}' else ${key} end, 0, 1 from n where i <> 7`,
    ])
      await sql.raw(statement).execute(db)
  })
  await transaction((db) => sql`analyze`.execute(db))
}

onBothDatabases((empty, database) => {
  test('rows of identity are found by index', async () => {
    const engine = await empty()
    await createStore(engine).migrate()
    await fill(engine)
    const page = { limit: 50 }
    const ofAddress = { ...page, emailKey }
    const queries = {
      'the person of an address': personsQuery(engine, { emailKey }),
      'the person of a subject': personsQuery(engine, { subjectId: 's7' }),
      'the persons of accounts': personsQuery(engine, { accountIds: ['u7', 'u8'] }),
      'all of these persons': personsQuery(engine, { emailKey, subjectId: 's9', accountIds: ['u8'] }),
      'the subject of an applicant': byApplicantQuery(engine, 'a70'),
      'the redemption of an applicant': attachedQuery(engine, 'a70'),
      'open redemptions': openQuery(engine, { subjectIds: ['s9', 's18'], absentSince: 0, limit: 10 }),
      'the owner of an address': findAddressOwnerQuery(engine, emailKey),
      'a page of subjects': subjectsQuery(engine, { ...page, afterId: 's1500' }),
      'subjects of an address': subjectsQuery(engine, ofAddress),
      'subjects of an account': subjectsQuery(engine, { ...page, accountId: 'u7' }),
      'the newest shares': newestQuery(engine, 'identity_shares', page),
      'shares of an address': newestQuery(engine, 'identity_shares', ofAddress),
      'the newest verdicts': newestQuery(engine, 'identity_verdicts', page),
      'verdicts of an address': newestQuery(engine, 'identity_verdicts', ofAddress),
      'the newest redemptions': newestQuery(engine, 'identity_redemptions', page),
      'redemptions of an address': newestQuery(engine, 'identity_redemptions', ofAddress),
      'due look-ups': dueLookUpsQuery(engine, 50),
      'due polls': duePollsQuery(engine, 50),
      'missing applicants': missingQuery(engine),
    }
    for (const [what, query] of Object.entries(queries)) {
      const compiled = { compile: () => query }
      if (database === 'SQLite') {
        const details = (await sqlitePlan(engine, compiled)).map(({ detail }) => detail)
        // A log is read from its newest row, by the number of the row, until the limit.
        const scans = details.filter((detail) => /^SCAN (?!json_each|newest|\()/.test(detail) && !/INDEX/.test(detail))
        expect(what.startsWith('the newest') ? scans.slice(1) : scans, what).toEqual([])
        continue
      }
      for (const scan of await postgresScans(engine, compiled))
        expect(scan.touched, `${what}: ${JSON.stringify(scan)}`).toBeLessThan(200)
    }
  })
})
