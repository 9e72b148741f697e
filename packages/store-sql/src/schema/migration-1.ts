/** Migration 1: every table. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 1.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration1(types: ColumnTypes, name: (table: string) => string): string[] {
  const { id, integer, code, text, bytes, real, tableOptions } = types
  const table = (tableName: string, columns: string) => `create table ${name(tableName)} (${columns})${tableOptions}`
  return [
    table(
      'payments',
      `id ${id}, chain_id ${integer} not null, tx_hash ${code} not null, ordinal ${integer} not null,
       log_index ${integer} not null, block_number ${integer} not null, block_hash ${code} not null,
       block_timestamp ${integer} not null, router_address ${code} not null, router_version ${text} not null,
       sender ${code} not null, receiver ${code} not null, memo ${code} not null, integration ${code},
       source_chain_id ${integer} not null, source_tx_hash ${code} not null,
       token_in_address ${code} not null, token_in_symbol ${text}, token_in_decimals ${integer} not null,
       token_in_amount ${text} not null, token_out_address ${code} not null, token_out_symbol ${text},
       token_out_decimals ${integer} not null, token_out_gross ${text} not null, token_out_net ${text} not null,
       is_primary ${integer} not null, version ${integer} not null, state ${text}, recipient ${text}, invoice ${text},
       unique (chain_id, tx_hash, ordinal)`,
    ),
    // Pages: one index per way to narrow, each in the order of INTERFACE 4.1, read backwards.
    `create index payments_page on ${name('payments')} (integration, block_timestamp, chain_id, tx_hash)
     where is_primary = 1`,
    `create index payments_page_sender on ${name('payments')} (integration, sender, block_timestamp, chain_id, tx_hash)
     where is_primary = 1`,
    `create index payments_page_receiver on ${name('payments')}
     (integration, receiver, block_timestamp, chain_id, tx_hash) where is_primary = 1`,
    `create index payments_hash on ${name('payments')} (tx_hash, integration) where is_primary = 1`,
    `create index payments_state on ${name('payments')} (state, chain_id, id) where is_primary = 1`,
    table(
      'snapshots',
      `payment_id ${integer} not null references ${name('payments')} (id), version ${integer} not null,
       body ${bytes} not null, primary key (payment_id, version)`,
    ),
    table(
      'integrations',
      `address ${code} not null primary key, name ${text} not null, notification_url ${text}, enabled ${integer} not null,
       api_key_version ${integer}, api_hash ${text}, previous_key_version ${integer}, previous_hash ${text},
       previous_until ${integer}, signing_key_version ${integer} not null, signing_sealed ${text} not null,
       created_at ${integer} not null`,
    ),
    table(
      'deliveries',
      `id ${id}, payment_id ${integer} not null, version ${integer} not null,
       integration ${code} not null references ${name('integrations')} (address), status ${text} not null,
       attempted ${integer} not null, lane ${integer} not null, due_at ${integer}, claim_token ${text},
       unique (payment_id, version),
       foreign key (payment_id, version) references ${name('snapshots')} (payment_id, version)`,
    ),
    `create index deliveries_due on ${name('deliveries')} (integration, lane, due_at, id) where status = 'pending'`,
    // Most deliveries are delivered; a list of those walks the key, a list of any others walks this.
    `create index deliveries_unsent on ${name('deliveries')} (status, id) where status <> 'delivered'`,
    table(
      'attempts',
      `delivery_id ${integer} not null references ${name('deliveries')} (id), number ${integer} not null,
       started_at ${integer} not null, latency_ms ${real} not null, status ${integer}, reason ${text},
       primary key (delivery_id, number)`,
    ),
    table(
      'updates',
      `seq ${id}, id ${code} not null unique, chain_id ${integer} not null, tx_hash ${code} not null,
       body ${text} not null, outcome ${text} not null, reason ${text}, version ${integer}`,
    ),
    `create index updates_waiting on ${name('updates')} (chain_id, tx_hash, seq) where outcome = 'waiting'`,
    table(
      'checkpoints',
      `chain_id ${integer} not null, block_number ${integer} not null, block_hash ${code} not null,
       primary key (chain_id, block_number)`,
    ),
  ]
}
