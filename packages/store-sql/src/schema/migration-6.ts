/** Migration 6: accounts by e-mail address, their verifications, attempts to share, events of the provider, and data keys. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 6.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration6(types: ColumnTypes, name: (table: string) => string): string[] {
  const { id, integer, code, text, tableOptions } = types
  const table = (tableName: string, columns: string) => `create table ${name(tableName)} (${columns})${tableOptions}`
  return [
    table(
      'identity_accounts',
      `email_key ${code} not null primary key, account_id ${code} not null, email_key_version ${integer} not null,
       email_sealed ${text} not null, created_at ${integer} not null, resolved_at ${integer} not null`,
    ),
    `create index identity_accounts_account on ${name('identity_accounts')} (account_id)`,
    table(
      'identity_users',
      `id ${id}, account_id ${code} not null unique, email_key ${code}, email_verified ${integer} not null,
       created_at ${integer} not null`,
    ),
    `create index identity_users_email on ${name('identity_users')} (email_key, email_verified desc, id)`,
    `create unique index identity_users_owner on ${name('identity_users')} (email_key) where email_verified = 1`,
    table(
      'verifications',
      `account_id ${code} not null primary key, donor ${code}, applicant_id ${code}, review ${text},
       reviewed_at ${integer}, attempts ${integer} not null, claim_token ${text}, claim_by ${code},
       claim_name ${code}, claim_until ${integer}, ask_at ${integer}`,
    ),
    `create index verifications_applicant on ${name('verifications')} (applicant_id) where applicant_id is not null`,
    `create index verifications_claim on ${name('verifications')} (claim_name) where claim_name is not null`,
    `create index verifications_ask on ${name('verifications')} (ask_at) where ask_at is not null`,
    table(
      'share_attempts',
      `id ${id}, at ${integer} not null, integration ${code} not null, email_key ${code} not null,
       account_id ${code} not null, outcome ${code} not null, external_user_id ${text}, provider_code ${integer}`,
    ),
    `create index share_attempts_email on ${name('share_attempts')} (email_key, id)`,
    `create index share_attempts_account on ${name('share_attempts')} (account_id, id)`,
    table('provider_events', `event_key ${code} not null primary key, at ${integer} not null`),
    table(
      'data_keys',
      `purpose ${code} not null primary key, key_version ${integer} not null, sealed ${text} not null`,
    ),
  ]
}
