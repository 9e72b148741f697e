/** Creates the table of processor updates. @module */
import { createTable, type Statements } from '../migration.js'

/** Every processor update that was received, with an index of the waiting ones. */
export const updateTable: Statements = (types, name) => {
  const { id, integer, code, text } = types
  return [
    createTable(
      types,
      name('updates'),
      `seq ${id}, id ${code} not null unique, chain_id ${integer} not null, tx_hash ${code} not null,
       body ${text} not null, outcome ${text} not null, reason ${text}, version ${integer}`,
    ),
    `create index updates_waiting on ${name('updates')} (chain_id, tx_hash, seq) where outcome = 'waiting'`,
  ]
}
