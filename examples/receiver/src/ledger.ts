/** The integrator's ledger: one row per handled version of a payment. @module */
import type { Snapshot } from '@payment-integration/webhook'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

/** A handled version. */
export interface LedgerRow {
  readonly tx_hash: string
  readonly version: number
  readonly state: string | null
}

/** Writes and reads handled versions. */
export interface Ledger {
  write(snapshot: Snapshot): void
  rows(): LedgerRow[]
}

/** Opens the ledger in the database of the version store, so that one transaction covers both. */
export function openLedger(database: DatabaseSyncInstance): Ledger {
  database.exec(
    'CREATE TABLE IF NOT EXISTS ledger (chain_id TEXT, tx_hash TEXT, version INTEGER, state TEXT, UNIQUE (chain_id, tx_hash, version))',
  )
  const insert = database.prepare('INSERT INTO ledger (chain_id, tx_hash, version, state) VALUES (?, ?, ?, ?)')
  const select = database.prepare('SELECT tx_hash, version, state FROM ledger ORDER BY rowid')
  return {
    write: ({ chainId, txHash, version, state }) => void insert.run(chainId, txHash, version, state),
    rows: () => select.all() as unknown as LedgerRow[],
  }
}
