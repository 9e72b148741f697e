/** The tables of the first release, in the order of their foreign keys. @module */
import type { Statements } from './migration.js'
import { createPartitions, firstSegment } from './partitions.js'

const legacyTables: Statements = (types, name) => {
  const { integer, code, tableOptions } = types
  return [
    `create table ${name('accounts')} (
       handle ${code} not null primary key, address ${code} not null, config text not null,
       created_at ${integer} not null)${tableOptions()}`,
    `create table ${name('account_addresses')} (
       address ${code} not null, handle ${code} not null references ${name('accounts')} (handle) on delete cascade,
       primary key (address, handle))${tableOptions()}`,
    `create index account_addresses_handle on ${name('account_addresses')} (handle)`,
    `create table ${name('legacy_keys')} (
       id ${code} not null primary key, name text not null, hash ${code} not null, key_version ${integer} not null,
       created_at ${integer} not null, revoked_at ${integer}, unique (hash, key_version))${tableOptions()}`,
  ]
}

const chainTables: Statements = (types, name) => {
  const { neverReusedId, integer, code, tableOptions } = types
  const deposits = name('deposits')
  return [
    `create table ${name('checkpoints')} (
       chain_id ${integer} not null, block_number ${integer} not null, block_hash ${code} not null, reached ${integer},
       primary key (chain_id, block_number))${tableOptions()}`,
    `create table ${name('proofs')} (
       chain_id ${integer} not null, from_block ${integer} not null, to_block ${integer} not null,
       proof text not null, node text not null, primary key (chain_id, from_block))${tableOptions()}`,
    `create table ${name('coverage')} (
       chain_id ${integer} not null, router ${code} not null, from_block ${integer} not null, to_block ${integer},
       primary key (chain_id, router))${tableOptions()}`,
    `create table ${deposits} (
       id ${neverReusedId}, chain_id ${integer} not null, tx_hash ${code} not null, ordinal ${integer} not null,
       block_number ${integer} not null, waiting ${integer} not null, body text not null,
       unique (chain_id, tx_hash, ordinal))${tableOptions()}`,
    `create index deposits_waiting on ${deposits} (id) where waiting = 1`,
    `create index deposits_block on ${deposits} (chain_id, block_number) where waiting = 1`,
  ]
}

/** Snapshots, the outbox of pending deliveries, their attempts, and the endpoints whose last attempt failed. */
const deliveryTables: Statements = (types, name) => {
  const { neverReusedId, hasPartitions, integer, int, short, code, bytes, real } = types
  const { hasBulkForeignKeys, segmentedBy, tableOptions } = types
  const [snapshots, outbox, endpoints] = [name('snapshots'), name('outbox'), name('endpoints')]
  const segments = name('segments')
  const foreignKey = (definition: string) => (hasBulkForeignKeys ? `, foreign key ${definition}` : '')
  return [
    `create table ${snapshots} (
       id ${neverReusedId}, payment_id ${integer} not null, created_at ${integer} not null, version ${int} not null,
       integration ${bytes}, undelivered ${code}, body ${bytes} not null
       ${hasPartitions ? '' : ', unique (payment_id, version)'}
       ${foreignKey(`(payment_id) references ${name('payments')} (id)`)}
       ${foreignKey(`(integration) references ${name('integrations')} (address)`)}
     )${segmentedBy('id')}${tableOptions()}`,
    // For the delivery stream of one integration.
    `create index snapshots_integration on ${snapshots} (integration, id) where integration is not null`,
    // Most deliveries are delivered and listed by the primary key; this index lists the others.
    `create index snapshots_undelivered on ${snapshots} (undelivered, id) where undelivered is not null`,
    `create table ${outbox} (
       id ${integer} not null primary key, due_at ${integer} not null, replayed_at ${integer},
       attempted ${int} not null, schedule_from ${int} not null, lane ${short} not null,
       integration ${bytes} not null, claim_token text)${tableOptions()}`,
    `create index outbox_due on ${outbox} (lane, integration, due_at, id)`,
    `create table ${name('attempts')} (
       delivery_id ${integer} not null, started_at ${integer} not null, latency_ms ${real} not null,
       number ${int} not null, status ${short}, replay ${short} not null, reason text, excerpt text,
       primary key (delivery_id, number)${foreignKey(`(delivery_id) references ${snapshots} (id)`)}
     )${segmentedBy('delivery_id')}${tableOptions()}`,
    ...(hasPartitions ? createPartitions(name, firstSegment) : []),
    // Where each segment after the first one begins.
    `create table ${segments} (
       number ${int} not null primary key, begun_at ${integer} not null, first_delivery ${integer} not null,
       first_update ${integer} not null, closes ${short} not null)${tableOptions()}`,
    `create table ${endpoints} (
       failures ${integer} not null, blocks ${integer} not null, failing_since ${integer} not null,
       blocked_until ${integer}, integration ${bytes} not null primary key)${tableOptions()}`,
    `create index endpoints_blocked on ${endpoints} (blocked_until) where blocks > 0`,
  ]
}

const integrationTables: Statements = (types, name) => {
  const { integer, code, bytes, tableOptions } = types
  return [
    `create table ${name('integrations')} (
       address ${bytes} not null primary key, name text not null, notification_url text,
       enabled ${integer} not null, api_key_version ${integer}, api_hash text,
       previous_key_version ${integer}, previous_hash text, previous_until ${integer},
       signing_key_version ${integer} not null, signing_sealed text not null,
       prepared_signing_key_version ${integer}, prepared_signing_sealed text,
       previous_signing_key_version ${integer}, previous_signing_sealed text, previous_signing_until ${integer},
       created_at ${integer} not null, endpoint_epoch ${integer} not null)${tableOptions()}`,
    // Open sessions by the hash of the token, each with the hash of the API secret that opened it.
    `create table ${name('integration_sessions')} (
       hash ${code} not null primary key,
       integration ${bytes} not null references ${name('integrations')} (address), api_hash text not null,
       created_at ${integer} not null, expires_at ${integer} not null)${tableOptions()}`,
    `create index integration_sessions_integration on ${name('integration_sessions')} (integration)`,
    `create index integration_sessions_expiry on ${name('integration_sessions')} (expires_at)`,
  ]
}

/** Subjects with their redemptions and verdicts, persons, and accounts. */
const identityTables: Statements = (types, name) => {
  const { id, integer, code, tableOptions } = types
  const [subjects, redemptions] = [name('identity_subjects'), name('identity_redemptions')]
  const [shares, verdicts, events] = [name('identity_shares'), name('identity_verdicts'), name('provider_events')]
  const [accounts, accountEvents] = [name('identity_accounts'), name('account_events')]
  return [
    `create table ${subjects} (
       seq ${id}, id ${code} not null unique, email_key ${code}, email_key_version ${integer}, email_sealed text,
       account_id ${code}, proved ${integer} not null, closed ${integer} not null, redemptions ${integer} not null,
       donor ${code}, applicant_id ${code}, attached_number ${integer}, attached_at ${integer}, review text,
       reviewed_at ${integer}, doubt text, presence_at ${integer}, is_active ${integer}, missing_since ${integer},
       missing_reported ${integer}, missing_confirmed ${integer}, revision ${integer} not null, next_poll_at ${integer}
     )${tableOptions()}`,
    `create unique index identity_subjects_open on ${subjects} (email_key) where closed = 0`,
    `create unique index identity_subjects_direct on ${subjects} (account_id) where email_key is null`,
    `create index identity_subjects_email on ${subjects} (email_key, id)`,
    `create index identity_subjects_account on ${subjects} (account_id, id)`,
    `create index identity_subjects_applicant on ${subjects} (applicant_id) where applicant_id is not null`,
    `create index identity_subjects_poll on ${subjects} (next_poll_at, seq) where next_poll_at is not null`,
    `create index identity_subjects_missing on ${subjects} (missing_since) where missing_confirmed = 0`,
    // One row per person, which a transaction locks.
    `create table ${name('identity_persons')} (id ${code} not null primary key)${tableOptions()}`,
    `create table ${redemptions} (
       seq ${id}, external_user_id ${code} not null unique, subject_id ${code} not null, number ${integer} not null,
       integration ${code} not null, level_name text, is_findable ${integer} not null,
       started_at ${integer} not null, leased_until ${integer} not null, state ${code} not null, applicant_id ${code},
       next_look_up_at ${integer}, unique (subject_id, number))${tableOptions()}`,
    `create index identity_redemptions_applicant on ${redemptions} (applicant_id) where applicant_id is not null`,
    `create index identity_redemptions_look_up on ${redemptions} (next_look_up_at, seq)
     where next_look_up_at is not null`,
    // The logs of shares, of verdicts, and of the provider's events.
    `create table ${shares} (
       id ${id}, at ${integer} not null, integration ${code} not null, subject_id ${code} not null,
       outcome ${code} not null, external_user_id text, provider_code ${integer})${tableOptions()}`,
    `create index identity_shares_subject on ${shares} (subject_id, id)`,
    `create table ${verdicts} (
       id ${id}, noted_at ${integer} not null, subject_id ${code} not null, applicant_id ${code} not null,
       source ${code} not null, change ${code} not null, at ${integer}, review text, outcome ${code} not null
     )${tableOptions()}`,
    `create index identity_verdicts_subject on ${verdicts} (subject_id, id)`,
    `create table ${events} (event_key ${code} not null primary key, at ${integer} not null)${tableOptions()}`,
    `create index provider_events_at on ${events} (at)`,
    // The store's own accounts, one-time codes, and the log of accounts.
    `create table ${accounts} (
       id ${id}, account_id ${code} not null unique, email_key ${code}, email_verified ${integer} not null,
       created_at ${integer} not null)${tableOptions()}`,
    `create index identity_accounts_email on ${accounts} (email_key, email_verified desc, id)`,
    `create unique index identity_accounts_owner on ${accounts} (email_key) where email_verified = 1`,
    `create table ${name('email_codes')} (
       email_key ${code} not null primary key, hash ${code} not null, expires_at ${integer} not null,
       tries_left ${integer} not null)${tableOptions()}`,
    `create table ${accountEvents} (
       id ${id}, at ${integer} not null, action ${code} not null, email_key ${code}, account_id text,
       proof ${code}, by_integration ${code}, reason ${code})${tableOptions()}`,
    `create index account_events_email on ${accountEvents} (email_key, id)`,
  ]
}

/** Operators with their sessions, the audit log, sealed keys and leases. */
const operatorTables: Statements = (types, name) => {
  const { integer, code, tableOptions } = types
  return [
    `create table ${name('operators')} (
       name ${code} not null primary key, role ${code} not null, enabled ${integer} not null, passphrase text,
       link_hash ${code} unique, link_expires_at ${integer}, created_at ${integer} not null)${tableOptions()}`,
    `create table ${name('operator_sessions')} (
       hash ${code} not null primary key, operator ${code} not null references ${name('operators')} (name),
       created_at ${integer} not null, expires_at ${integer} not null)${tableOptions()}`,
    `create index operator_sessions_operator on ${name('operator_sessions')} (operator)`,
    `create index operator_sessions_expiry on ${name('operator_sessions')} (expires_at)`,
    `create table ${name('audit')} (
       seq ${integer} not null primary key, at ${integer} not null, actor text not null, action text not null,
       subject text not null, details text not null, key_version ${integer} not null, hash text not null
     )${tableOptions()}`,
    `create table ${name('data_keys')} (
       purpose ${code} not null primary key, key_version ${integer} not null, sealed text not null
     )${tableOptions()}`,
    `create table ${name('leases')} (
       name ${code} not null primary key, holder text not null, expires_at ${integer} not null)${tableOptions()}`,
  ]
}

/** Payments, their statuses, and the repositions that keep page positions valid while block times change. */
const paymentTables: Statements = (types, name) => {
  const { id, integer, int, short, bytes, hasBulkForeignKeys, tableOptions } = types
  const payments = name('payments')
  const reference = hasBulkForeignKeys ? ` references ${payments} (id)` : ''
  return [
    // Columns of equal size are together, widest first: PostgreSQL adds no padding between them.
    `create table ${payments} (
       id ${id}, chain_id ${integer} not null, block_number ${integer} not null, block_timestamp ${integer} not null,
       source_chain_id ${integer}, ordinal ${int} not null, log_index ${int} not null,
       token_in_decimals ${short} not null, token_out_decimals ${short}, is_primary ${short} not null,
       off_chain ${short} not null, tx_hash ${bytes} not null, block_hash ${bytes} not null,
       router_address ${bytes} not null, router_version text not null, sender ${bytes} not null,
       receiver ${bytes} not null, memo ${bytes} not null, integration ${bytes}, source_tx_hash ${bytes},
       token_in_address ${bytes} not null, token_in_symbol text, token_in_amount text not null,
       token_out_address ${bytes}, token_out_symbol text, token_out_gross text not null,
       token_out_net text not null, pricing text, dropped text,
       unique (tx_hash, chain_id, ordinal))${tableOptions()}`,
    // One index per filter of a page, sorted as in docs/interface.md 4.1 up to the block time, and read backwards.
    // Payments with the same block time are sorted by each query.
    `create index payments_page on ${payments} (integration, block_timestamp) where is_primary = 1`,
    `create index payments_page_sender on ${payments} (integration, sender, block_timestamp) where is_primary = 1`,
    `create index payments_page_receiver on ${payments} (integration, receiver, block_timestamp) where is_primary = 1`,
    `create index payments_block on ${payments} (chain_id, block_number)`,
    // The first column is always 1: it makes SQLite's planner prefer this index to payments_block.
    `create index payments_overdue on ${payments} (off_chain, chain_id, block_number, id)
     where off_chain = 1 and dropped is null`,
    // One row per payment whose status has changed; the others have the initial status.
    `create table ${name('statuses')} (
       payment_id ${integer} not null primary key${reference}, block_timestamp ${integer} not null,
       version ${int} not null, state text, recipient text, invoice text)${tableOptions(80)}`,
    // Primary payments without a final state. Receipt polling lists this table, so `statuses` needs no index of states.
    `create table ${name('unsettled')} (
       chain_id ${integer} not null, payment_id ${integer} not null, primary key (chain_id, payment_id)
     )${tableOptions()}`,
    `create table ${name('page_epochs')} (
       integration ${bytes} not null primary key, seq ${integer} not null)${tableOptions()}`,
    `create table ${name('payment_repositions')} (
       payment_id ${integer} not null references ${payments} (id), seq ${integer} not null,
       integration ${bytes} not null, block_timestamp ${integer} not null, primary key (payment_id, seq)
     )${tableOptions()}`,
    `create index payment_repositions_since on ${name('payment_repositions')} (integration, seq)`,
  ]
}

/** Every processor update that was received, with an index of the waiting ones. */
const updateTable: Statements = (types, name) => {
  const { sequence, isStoredInSequence, integer, int, code, bytes, tableOptions } = types
  return [
    `create table ${name('updates')} (
       seq ${sequence}, payment_id ${integer}, chain_id ${integer}, version ${int},
       id ${code} not null ${isStoredInSequence ? 'unique' : 'primary key'}, fingerprint ${bytes} not null,
       outcome ${code} not null, tx_hash ${bytes}, body text, reason text)${tableOptions()}`,
    `create index updates_waiting on ${name('updates')} (chain_id, tx_hash, seq) where outcome = 'waiting'`,
  ]
}

/** The schema of the first release. Once released, it never changes. */
export const baseline: Statements = (types, name) =>
  [
    paymentTables,
    integrationTables,
    deliveryTables,
    updateTable,
    chainTables,
    legacyTables,
    identityTables,
    operatorTables,
  ].flatMap((part) => part(types, name))
