/** Creates the table of processor updates. @module */
import { createTable, type Statements } from '../migration.js'

/** Every processor update that was received, with an index of the waiting ones. */
export const updateTable: Statements = (types, name) => {
  const { sequence, isStoredInSequence, integer, int, code, text, bytes } = types
  return [
    createTable(
      types,
      name('updates'),
      `seq ${sequence}, payment_id ${integer}, chain_id ${integer}, version ${int},
       id ${code} not null ${isStoredInSequence ? 'unique' : 'primary key'}, fingerprint ${bytes} not null,
       outcome ${code} not null, tx_hash ${bytes}, body ${text}, reason ${text}`,
    ),
    `create index updates_waiting on ${name('updates')} (chain_id, tx_hash, seq) where outcome = 'waiting'`,
  ]
}
