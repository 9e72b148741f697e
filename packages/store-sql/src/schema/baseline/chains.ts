/** Creates the tables of indexed chains: checkpoints, proofs, coverage and deposits. @module */
import { createTable, type Statements } from '../migration.js'

/** Checkpoints, proofs and router coverage of each chain, and its bridge deposits. */
export const chainTables: Statements = (types, name) => {
  const { id, integer, code, text } = types
  const deposits = name('deposits')
  return [
    createTable(
      types,
      name('checkpoints'),
      `chain_id ${integer} not null, block_number ${integer} not null, block_hash ${code} not null, reached ${integer},
       primary key (chain_id, block_number)`,
    ),
    createTable(
      types,
      name('proofs'),
      `chain_id ${integer} not null, from_block ${integer} not null, to_block ${integer} not null,
       proof ${text} not null, endpoint ${text} not null, primary key (chain_id, from_block)`,
    ),
    createTable(
      types,
      name('coverage'),
      `chain_id ${integer} not null, router ${code} not null, from_block ${integer} not null, to_block ${integer},
       primary key (chain_id, router)`,
    ),
    createTable(
      types,
      deposits,
      `id ${id}, chain_id ${integer} not null, tx_hash ${code} not null, ordinal ${integer} not null,
       block_number ${integer} not null, waiting ${integer} not null, body ${text} not null,
       unique (chain_id, tx_hash, ordinal)`,
    ),
    `create index deposits_waiting on ${deposits} (id) where waiting = 1`,
    `create index deposits_block on ${deposits} (chain_id, block_number) where waiting = 1`,
  ]
}
