/** The indexes that only the console reads. A service without one does not pay for them at each write. @module */
import { sql } from 'kysely'
import type { Engine, SqlDialect } from '../engine.js'

/** Makes the missing ones, in one transaction that keeps migrations of other processes waiting. */
export async function makeConsoleIndexes({ transaction, dialect }: Engine): Promise<void> {
  await transaction(
    async (db) => {
      await dialect.beginMigration(db)
      for (const index of indexes(dialect)) await sql.raw(`create index if not exists ${index}`).execute(db)
    },
    { isLong: true },
  )
}

function indexes({ name }: SqlDialect): string[] {
  const payments = name('payments')
  return [
    // Newest first across integrations; few payments are in a state other than `success`.
    `payments_time on ${payments} (block_timestamp, id) where is_primary = 1`,
    `statuses_state on ${name('statuses')} (state, block_timestamp, payment_id) where state <> 'success'`,
    `payments_memo on ${payments} (memo) where is_primary = 1`,
    `payments_source on ${payments} (source_tx_hash) 
     where is_primary = 1 and source_tx_hash is not null`,
    `attempts_started on ${name('attempts')} (started_at)`,
    `updates_transaction on ${name('updates')} (chain_id, tx_hash, seq)`,
  ]
}
