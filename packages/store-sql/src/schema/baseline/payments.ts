/** Creates the tables of payments and their moves between pages. @module */
import { createTable, type Statements } from '../migration.js'

/** Payments, and the moves that keep page positions valid while block times change. */
export const paymentTables: Statements = (types, name) => {
  const { id, integer, code, text } = types
  const payments = name('payments')
  return [
    createTable(
      types,
      payments,
      `id ${id}, chain_id ${integer} not null, tx_hash ${code} not null, ordinal ${integer} not null,
       log_index ${integer} not null, block_number ${integer} not null, block_hash ${code} not null,
       block_timestamp ${integer} not null, router_address ${code} not null, router_version ${text} not null,
       sender ${code} not null, receiver ${code} not null, memo ${code} not null, integration ${code},
       source_chain_id ${integer} not null, source_tx_hash ${code} not null,
       token_in_address ${code} not null, token_in_symbol ${text}, token_in_decimals ${integer} not null,
       token_in_amount ${text} not null, token_out_address ${code} not null, token_out_symbol ${text},
       token_out_decimals ${integer} not null, token_out_gross ${text} not null, token_out_net ${text} not null,
       is_primary ${integer} not null, version ${integer} not null, state ${text}, recipient ${text}, invoice ${text},
       pricing ${text} not null, off_chain ${integer} not null, dropped ${text},
       unique (chain_id, tx_hash, ordinal)`,
      80,
    ),
    // Pages: one index per filter, each in the order of docs/interface.md 4.1, read backwards.
    `create index payments_page on ${payments} (integration, block_timestamp, chain_id, tx_hash) where is_primary = 1`,
    `create index payments_page_sender on ${payments} (integration, sender, block_timestamp, chain_id, tx_hash)
     where is_primary = 1`,
    `create index payments_page_receiver on ${payments} (integration, receiver, block_timestamp, chain_id, tx_hash)
     where is_primary = 1`,
    `create index payments_hash on ${payments} (tx_hash, integration) where is_primary = 1`,
    `create index payments_block on ${payments} (chain_id, block_number)`,
    // The first column is always 1: it makes SQLite's planner prefer this index to payments_block.
    `create index payments_overdue on ${payments} (off_chain, chain_id, block_number, id)
     where off_chain = 1 and dropped is null`,
    // Primary payments without a final state. No index has the state itself, so that a change of it writes none.
    createTable(
      types,
      name('unsettled'),
      `chain_id ${integer} not null, payment_id ${integer} not null, primary key (chain_id, payment_id)`,
    ),
    createTable(types, name('page_epochs'), `integration ${code} not null primary key, seq ${integer} not null`),
    createTable(
      types,
      name('payment_moves'),
      `payment_id ${integer} not null references ${payments} (id), seq ${integer} not null,
       integration ${code} not null, block_timestamp ${integer} not null, primary key (payment_id, seq)`,
    ),
    `create index payment_moves_since on ${name('payment_moves')} (integration, seq)`,
  ]
}
