/** Migration 8: a name for each attempt to redeem, what the provider said of applicants, and applicants that are missing or switched off. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 8.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration8(types: ColumnTypes, name: (table: string) => string): string[] {
  const { id, integer, code, text, tableOptions } = types
  const table = (tableName: string, columns: string) => `create table ${name(tableName)} (${columns})${tableOptions}`
  const column = (definition: string) => `alter table ${name('verifications')} add column ${definition}`
  // The log's names are of the database's own collation, and the names of claims are not.
  const exact = code.slice(text.length)
  const [attempts, verifications] = [name('share_attempts'), name('verifications')]
  return [
    column(`attempt ${integer}`),
    column(`doubt ${text}`),
    column(`presence_at ${integer}`),
    column(`is_active ${integer}`),
    column(`missing_since ${integer}`),
    column(`missing_told ${integer}`),
    column(`missing_confirmed ${integer}`),
    table(
      'redemptions',
      `external_user_id ${code} not null primary key, account_id ${code} not null, number ${integer} not null,
       integration ${code} not null, email_key ${code} not null, level_name ${text}, is_findable ${integer} not null,
       claimed_at ${integer} not null, state ${code} not null, applicant_id ${code}, unique (account_id, number)`,
    ),
    `create index redemptions_email on ${name('redemptions')} (email_key, claimed_at, external_user_id)`,
    `create index redemptions_claimed on ${name('redemptions')} (claimed_at, external_user_id)`,
    table(
      'verdicts',
      `id ${id}, noted_at ${integer} not null, account_id ${code} not null, applicant_id ${code} not null,
       source ${code} not null, news ${code} not null, at ${integer}, review ${text}, outcome ${code} not null`,
    ),
    `create index verdicts_account on ${name('verdicts')} (account_id, id)`,
    `create index verifications_missing on ${verifications} (missing_since) where missing_since is not null`,
    `create index provider_events_at on ${name('provider_events')} (at)`,
    // Names of before: those whose applicant was attached, and those that are claimed. A name of two integrations is the one's that came last.
    // What is claimed has one name for several attempts, perhaps at an endpoint that does not show it: an applicant of any age is its own, and that
    // nobody is found proves nothing.
    `insert into ${name('redemptions')}
       (external_user_id, account_id, number, integration, email_key, level_name, is_findable, claimed_at, state, applicant_id)
     select n.external_user_id, n.account_id, row_number() over (partition by n.account_id order by n.id),
       coalesce(case when v.claim_name = n.external_user_id then v.claim_by end, n.integration), n.email_key, null,
       case when v.claim_name = n.external_user_id then 0 else 1 end, case when v.claim_name = n.external_user_id then 0 else n.at end,
       case when v.claim_name = n.external_user_id then 'unknown' when n.outcome = 'redeemed' then 'attached' else 'refused' end, null
     from (
       select a.id, a.at, a.integration, a.email_key, a.account_id, a.outcome, a.external_user_id${exact} as external_user_id,
         row_number() over (partition by a.external_user_id order by case when a.outcome = 'redeemed' then 0 else 1 end, a.id desc) as place
       from ${attempts} a where a.external_user_id is not null
     ) n
     join ${verifications} v on v.account_id = n.account_id
     where n.place = 1`,
    `insert into ${name('redemptions')}
       (external_user_id, account_id, number, integration, email_key, level_name, is_findable, claimed_at, state, applicant_id)
     select v.claim_name, v.account_id, v.attempts + 1, v.claim_by, '', null, 0, 0, 'unknown', null
     from ${verifications} v
     where v.claim_name is not null
       and not exists (select 1 from ${name('redemptions')} r where r.external_user_id = v.claim_name)`,
    `update ${verifications} set attempts = attempts + 1 where claim_name is not null`,
    `update ${verifications} set attempt = (select max(r.number) from ${name('redemptions')} r
       where r.account_id = ${verifications}.account_id and r.state = 'attached') where applicant_id is not null`,
  ]
}
