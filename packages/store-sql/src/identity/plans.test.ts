import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/old-databases.js'
import { postgresScans, sqlitePlan } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { provedQuery } from './account-changes.js'
import { ofApplicantQuery, passQuery } from './redemptions.js'
import { dueQuery, listQuery, verdictsQuery } from './verification-reads.js'

const rows = 3_000
const emailKey = '7'.padStart(64, '0')

/** 3,000 accounts, verifications and attempts, ten of them due. */
async function fill({ transaction, differences: { name } }: Engine): Promise<void> {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})`
  const zeros = '0'.repeat(64)
  const key = (n: string) => `substr('${zeros}' || ${n}, length('${zeros}' || ${n}) - 63)`
  await transaction(async (db) => {
    for (const statement of [
      `insert into ${name('verifications')} (account_id, applicant_id, attempts, ask_at)
        ${numbers} select '"' || i || '"', '"a' || i || '"', 1, case when i % 2 = 0 then i + 4000000000000 when i < 20 then i end from n`,
      `insert into ${name('share_attempts')} (at, integration, email_key, account_id, outcome)
        ${numbers} select i, 'shop', ${key('i')}, '"' || i || '"', 'redeemed' from n`,
      `insert into ${name('redemptions')} (external_user_id, account_id, number, integration, email_key, is_findable, claimed_at, state, applicant_id)
        ${numbers} select '"n' || i || '"', '"' || i || '"', 1, 'shop', ${key('i')}, 1, i, case when i % 9 = 0 then 'refused' else 'attached' end,
          case when i % 9 = 0 then null else '"a' || i || '"' end from n`,
      `insert into ${name('identity_accounts')} (email_key, account_id, email_key_version, email_sealed, created_at, resolved_at)
        ${numbers} select ${key('i')}, '"' || i || '"', 1, 'sealed', 1, 1 from n`,
      `insert into ${name('account_events')} (at, action, email_key, account_id)
        ${numbers} select i, 'claimed', ${key('i')}, '"' || i || '"' from n`,
      `insert into ${name('verdicts')} (noted_at, account_id, applicant_id, source, news, outcome)
        ${numbers} select i, '"' || i || '"', '"a' || i || '"', 'webhook', 'review', 'applied' from n`,
    ])
      await sql.raw(statement).execute(db)
  })
  await transaction((db) => sql`analyze`.execute(db))
}

onBothDatabases((empty, database) => {
  test('what operators and questions ask for is found by index', async () => {
    const engine = await empty()
    await createStore(engine).migrate()
    await fill(engine)
    const queries = {
      'verifications of an address': listQuery(engine, { emailKey, limit: 50 }),
      'a page of verifications': listQuery(engine, { afterAccountId: '1500', limit: 50 }),
      'due questions': dueQuery(engine, 50),
      'verdicts of an address': verdictsQuery(engine, { emailKey, limit: 50 }),
      'the attempt of an applicant': ofApplicantQuery(engine, 'a70'),
      'the newest verdicts': verdictsQuery(engine, { limit: 50 }),
      'whether an account proved an address': provedQuery(engine, '7', emailKey),
      'attempts that go with an address': passQuery(engine, { emailKey, fromId: '7', toId: '8' }),
    }
    for (const [what, query] of Object.entries(queries)) {
      const compiled = { compile: () => query }
      if (database === 'SQLite') {
        const details = (await sqlitePlan(engine, compiled)).map(({ detail }) => detail)
        expect(
          details.filter(
            (detail) =>
              /^SCAN [vsa]\b|^SCAN (verifications|redemptions|account_events)/.test(detail) && !/INDEX/.test(detail),
          ),
          what,
        ).toEqual([])
        continue
      }
      for (const scan of await postgresScans(engine, compiled))
        expect(scan.touched, `${what}: ${JSON.stringify(scan)}`).toBeLessThan(200)
    }
  })
})
