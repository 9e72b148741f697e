/** Creates the tables of identity: subjects with their redemptions and verdicts, persons, and accounts. @module */
import { createTable, type Statements } from './migration.js'

export const identityTables: Statements = (types, name) => {
  const { id, integer, code, text } = types
  const [subjects, redemptions] = [name('identity_subjects'), name('identity_redemptions')]
  const [shares, verdicts, events] = [name('identity_shares'), name('identity_verdicts'), name('provider_events')]
  const [accounts, accountEvents] = [name('identity_accounts'), name('account_events')]
  return [
    createTable(
      types,
      subjects,
      `seq ${id}, id ${code} not null unique, email_key ${code}, email_key_version ${integer}, email_sealed ${text},
       account_id ${code}, proved ${integer} not null, closed ${integer} not null, redemptions ${integer} not null,
       donor ${code}, applicant_id ${code}, attached_number ${integer}, attached_at ${integer}, review ${text},
       reviewed_at ${integer}, doubt ${text}, presence_at ${integer}, is_active ${integer}, missing_since ${integer},
       missing_reported ${integer}, missing_confirmed ${integer}, revision ${integer} not null, next_poll_at ${integer}`,
    ),
    `create unique index identity_subjects_open on ${subjects} (email_key) where closed = 0`,
    `create unique index identity_subjects_direct on ${subjects} (account_id) where email_key is null`,
    `create index identity_subjects_email on ${subjects} (email_key, id)`,
    `create index identity_subjects_account on ${subjects} (account_id, id)`,
    `create index identity_subjects_applicant on ${subjects} (applicant_id) where applicant_id is not null`,
    `create index identity_subjects_poll on ${subjects} (next_poll_at, seq) where next_poll_at is not null`,
    `create index identity_subjects_missing on ${subjects} (missing_since) where missing_confirmed = 0`,
    // One row per person, which a transaction locks.
    createTable(types, name('identity_persons'), `id ${code} not null primary key`),
    createTable(
      types,
      redemptions,
      `seq ${id}, external_user_id ${code} not null unique, subject_id ${code} not null, number ${integer} not null,
       integration ${code} not null, level_name ${text}, is_findable ${integer} not null, started_at ${integer} not null,
       leased_until ${integer} not null, state ${code} not null, applicant_id ${code}, next_look_up_at ${integer},
       unique (subject_id, number)`,
    ),
    `create index identity_redemptions_applicant on ${redemptions} (applicant_id) where applicant_id is not null`,
    `create index identity_redemptions_look_up on ${redemptions} (next_look_up_at, seq)
     where next_look_up_at is not null`,
    // The logs of shares, of verdicts, and of the provider's events.
    createTable(
      types,
      shares,
      `id ${id}, at ${integer} not null, integration ${code} not null, subject_id ${code} not null,
       outcome ${code} not null, external_user_id ${text}, provider_code ${integer}`,
    ),
    `create index identity_shares_subject on ${shares} (subject_id, id)`,
    createTable(
      types,
      verdicts,
      `id ${id}, noted_at ${integer} not null, subject_id ${code} not null, applicant_id ${code} not null,
       source ${code} not null, change ${code} not null, at ${integer}, review ${text}, outcome ${code} not null`,
    ),
    `create index identity_verdicts_subject on ${verdicts} (subject_id, id)`,
    createTable(types, events, `event_key ${code} not null primary key, at ${integer} not null`),
    `create index provider_events_at on ${events} (at)`,
    // The store's own accounts, one-time codes, and the log of accounts.
    createTable(
      types,
      accounts,
      `id ${id}, account_id ${code} not null unique, email_key ${code}, email_verified ${integer} not null,
       created_at ${integer} not null`,
    ),
    `create index identity_accounts_email on ${accounts} (email_key, email_verified desc, id)`,
    `create unique index identity_accounts_owner on ${accounts} (email_key) where email_verified = 1`,
    createTable(
      types,
      name('email_codes'),
      `email_key ${code} not null primary key, hash ${code} not null, expires_at ${integer} not null,
       tries_left ${integer} not null`,
    ),
    createTable(
      types,
      accountEvents,
      `id ${id}, at ${integer} not null, action ${code} not null, email_key ${code}, account_id ${text},
       proof ${code}, by_integration ${code}, reason ${code}`,
    ),
    `create index account_events_email on ${accountEvents} (email_key, id)`,
  ]
}
