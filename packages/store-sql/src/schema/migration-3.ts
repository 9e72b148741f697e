/** Migration 3: dropped payments, proofs, coverage of routers, leases and deposits. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 3.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration3(types: ColumnTypes, name: (table: string) => string): string[] {
  const { id, integer, code, text, tableOptions } = types
  const table = (tableName: string, columns: string) => `create table ${name(tableName)} (${columns})${tableOptions}`
  const payments = name('payments')
  const deposits = name('deposits')
  return [
    `alter table ${payments} add column dropped ${text}`,
    // The first column is always the same: with it SQLite's planner prefers this index to the one of all blocks.
    `create index payments_overdue on ${payments} (off_chain, chain_id, block_number, id)
     where off_chain = 1 and dropped is null`,
    // Snapshots and deliveries are made of rows that their own transaction has just inserted or read, and that nothing ever deletes.
    ...(types.dropsForeignKeys
      ? [
          `alter table ${name('snapshots')} drop constraint snapshots_payment_id_fkey`,
          `alter table ${name('deliveries')} drop constraint deliveries_payment_id_version_fkey,
           drop constraint deliveries_integration_fkey`,
        ]
      : []),
    table(
      'proofs',
      `chain_id ${integer} not null, from_block ${integer} not null, to_block ${integer} not null,
       proof ${text} not null, endpoint ${text} not null, primary key (chain_id, from_block)`,
    ),
    table(
      'coverage',
      `chain_id ${integer} not null, router ${code} not null, from_block ${integer} not null, to_block ${integer},
       primary key (chain_id, router)`,
    ),
    table('leases', `name ${code} not null primary key, holder ${text} not null, expires_at ${integer} not null`),
    table(
      'deposits',
      `id ${id}, chain_id ${integer} not null, tx_hash ${code} not null, ordinal ${integer} not null,
       block_number ${integer} not null, waiting ${integer} not null, body ${text} not null,
       unique (chain_id, tx_hash, ordinal)`,
    ),
    `create index deposits_waiting on ${deposits} (id) where waiting = 1`,
    `create index deposits_block on ${deposits} (chain_id, block_number) where waiting = 1`,
  ]
}
