/** Migration 11: which applicant an attempt was claimed to replace, and whose it is since its address was taken. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 11.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration11({ text }: ColumnTypes, name: (table: string) => string): string[] {
  const [redemptions, verifications] = [name('redemptions'), name('verifications')]
  const open = "('claimed', 'unknown', 'unresolved')"
  return [
    `alter table ${redemptions} add column replaces ${text}`,
    `alter table ${redemptions} add column taken_by ${text}`,
    // Nothing comes to an account while a claim of it runs, so what is there was there when its newest open attempt was claimed, also where a look-up's claim
    // took over since. Of other attempts of before it was not kept.
    `update ${redemptions} set replaces = (select v.applicant_id from ${verifications} v
       where v.account_id = ${redemptions}.account_id and v.claim_name is not null)
     where state in ${open} and number = (select max(o.number) from ${redemptions} o
       where o.account_id = ${redemptions}.account_id and o.state in ${open})`,
    // What went along is where it went.
    `update ${redemptions} set taken_by = (select max(v.account_id) from ${verifications} v
       where v.applicant_id = ${redemptions}.applicant_id and v.account_id <> ${redemptions}.account_id)
     where state = 'attached'`,
    // What is open goes to who has its address; an account that proved it itself may have given it up, and keeps it.
    `update ${redemptions} set taken_by = (select a.account_id from ${name('identity_accounts')} a
       where a.email_key = ${redemptions}.email_key and a.account_id <> ${redemptions}.account_id)
     where taken_by is null and not exists (select 1 from ${name('account_events')} e
       where e.email_key = ${redemptions}.email_key and e.account_id = ${redemptions}.account_id and e.action = 'claimed')`,
  ]
}
