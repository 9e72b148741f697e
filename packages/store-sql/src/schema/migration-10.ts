/**
 * Migration 10: the attempt that an applicant came from is found by the applicant's id. The index over the names of claims goes, as no statement reads it: names
 * are looked up among redemptions.
 * @module
 */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 10.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration10(_types: ColumnTypes, name: (table: string) => string): string[] {
  const [redemptions, verifications] = [name('redemptions'), name('verifications')]
  return [
    `drop index ${name('verifications_claim')}`,
    `create index redemptions_applicant on ${redemptions} (applicant_id) where applicant_id is not null`,
    // Of the names of before it was not kept whose applicant is whose: the attached one is that of the attempt that its account names.
    `update ${redemptions} set applicant_id = (select v.applicant_id from ${verifications} v
       where v.account_id = ${redemptions}.account_id and v.attempt = ${redemptions}.number)
     where applicant_id is null and state = 'attached'`,
  ]
}
