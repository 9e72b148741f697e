/** The indexes that only the console reads. A service without one does not pay for them at each write. @module */
import type { Engine } from '../engine.js'
import { whileBusy } from '../internal/while-busy.js'
import type { ColumnTypes } from '../schema/column-types.js'
import type { IndexDefinition } from '../schema/migration.js'

/** Makes the missing ones, while others write. Where none is missing it waits for no migration. */
export async function makeConsoleIndexes(engine: Engine): Promise<void> {
  const indexes = indexesOf(engine.dialect.types)
  const areThere = await Promise.all(indexes.map(({ name }) => engine.hasIndex(name)))
  if (!areThere.includes(false)) return
  await engine.exclusively(async () => {
    for (const index of indexes) await whileBusy(() => engine.makeIndex(index))
  })
}

/** Updates in the order in which they came, where they are stored in another. Removing old ones needs it too. */
export const updatesNewest: IndexDefinition = { name: 'updates_newest', table: 'updates', columns: '(seq)' }

const indexesOf = ({ isStoredInSequence }: ColumnTypes): readonly IndexDefinition[] => [
  // Newest first across integrations; few payments are in a state other than `success`.
  { name: 'payments_time', table: 'payments', columns: '(block_timestamp, id) where is_primary = 1' },
  {
    name: 'statuses_state',
    table: 'statuses',
    columns: "(state, block_timestamp, payment_id) where state <> 'success'",
  },
  { name: 'payments_memo', table: 'payments', columns: '(memo) where is_primary = 1' },
  {
    name: 'payments_source',
    table: 'payments',
    columns: '(source_tx_hash) where is_primary = 1 and source_tx_hash is not null',
  },
  { name: 'attempts_started', table: 'attempts', columns: '(started_at)' },
  { name: 'updates_payment', table: 'updates', columns: '(payment_id, seq)' },
  ...(isStoredInSequence ? [] : [updatesNewest]),
]
