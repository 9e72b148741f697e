/** Creates the tables of payments and their moves between pages. @module */
import { createTable, type Statements } from '../migration.js'

/** Payments, their statuses, and the moves that keep page positions valid while block times change. */
export const paymentTables: Statements = (types, name) => {
  const { id, integer, int, short, text, bytes, hasBulkForeignKeys } = types
  const payments = name('payments')
  const reference = hasBulkForeignKeys ? ` references ${payments} (id)` : ''
  return [
    createTable(
      types,
      payments,
      // Columns of equal size are together, widest first: PostgreSQL adds no padding between them.
      `id ${id}, chain_id ${integer} not null, block_number ${integer} not null, block_timestamp ${integer} not null,
       source_chain_id ${integer}, ordinal ${int} not null, log_index ${int} not null,
       token_in_decimals ${short} not null, token_out_decimals ${short}, is_primary ${short} not null,
       off_chain ${short} not null, tx_hash ${bytes} not null, block_hash ${bytes} not null,
       router_address ${bytes} not null, router_version ${text} not null, sender ${bytes} not null,
       receiver ${bytes} not null, memo ${bytes} not null, integration ${bytes}, source_tx_hash ${bytes},
       token_in_address ${bytes} not null, token_in_symbol ${text}, token_in_amount ${text} not null,
       token_out_address ${bytes}, token_out_symbol ${text}, token_out_gross ${text} not null,
       token_out_net ${text} not null, pricing ${text}, dropped ${text},
       unique (tx_hash, chain_id, ordinal)`,
    ),
    // Pages: one index per filter, in the order of docs/interface.md 4.1 up to the block time, read backwards.
    // Payments of one block time are sorted as they are read.
    `create index payments_page on ${payments} (integration, block_timestamp) where is_primary = 1`,
    `create index payments_page_sender on ${payments} (integration, sender, block_timestamp) where is_primary = 1`,
    `create index payments_page_receiver on ${payments} (integration, receiver, block_timestamp) where is_primary = 1`,
    `create index payments_block on ${payments} (chain_id, block_number)`,
    // The first column is always 1: it makes SQLite's planner prefer this index to payments_block.
    `create index payments_overdue on ${payments} (off_chain, chain_id, block_number, id)
     where off_chain = 1 and dropped is null`,
    // The status of each payment that was changed; the others have the initial one.
    createTable(
      types,
      name('statuses'),
      `payment_id ${integer} not null primary key${reference}, block_timestamp ${integer} not null,
       version ${int} not null, state ${text}, recipient ${text}, invoice ${text}`,
      { fill: 80 },
    ),
    // Primary payments without a final state, which receipt polling lists. `statuses` needs no index of states for it.
    createTable(
      types,
      name('unsettled'),
      `chain_id ${integer} not null, payment_id ${integer} not null, primary key (chain_id, payment_id)`,
    ),
    createTable(types, name('page_epochs'), `integration ${bytes} not null primary key, seq ${integer} not null`),
    createTable(
      types,
      name('payment_moves'),
      `payment_id ${integer} not null references ${payments} (id), seq ${integer} not null,
       integration ${bytes} not null, block_timestamp ${integer} not null, primary key (payment_id, seq)`,
    ),
    `create index payment_moves_since on ${name('payment_moves')} (integration, seq)`,
  ]
}
