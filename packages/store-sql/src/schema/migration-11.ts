/** Migration 11: which applicant an attempt was claimed to replace; the log of accounts is found by the account. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 11.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration11({ text }: ColumnTypes, name: (table: string) => string): string[] {
  const [redemptions, verifications] = [name('redemptions'), name('verifications')]
  return [
    `alter table ${redemptions} add column replaces ${text}`,
    // Nothing comes to an account while a claim of it runs, so what is there was there when it was made. Of other attempts of before it was not kept.
    `update ${redemptions} set replaces = (select v.applicant_id from ${verifications} v
       where v.account_id = ${redemptions}.account_id and v.claim_name = ${redemptions}.external_user_id)
     where state in ('claimed', 'unknown', 'unresolved')`,
    `create index account_events_account on ${name('account_events')} (account_id, id)`,
  ]
}
