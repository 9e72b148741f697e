/** Receives payment notifications: verifies them, and runs your effect once for each version of a payment. */
import { createReceiver } from '@payment-integration/version-store'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import { createVerifier, type Snapshot } from '@payment-integration/webhook'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

/** Opens the database and makes the receiver. The variables are those of `.env.example`. */
export function openReceiver(env: { readonly [name: string]: string | undefined }) {
  const { WEBHOOK_SIGNING_SECRET, DATABASE_URL } = env
  if (!WEBHOOK_SIGNING_SECRET || !DATABASE_URL) throw new Error('Set WEBHOOK_SIGNING_SECRET and DATABASE_URL.')
  // Two secrets, separated by a comma, while the signing secret is rotated.
  const { verify } = createVerifier({ secrets: WEBHOOK_SIGNING_SECRET.split(',').map((secret) => secret.trim()) })
  const database = new DatabaseSync(DATABASE_URL.replace(/^sqlite:/, ''))
  database.exec('PRAGMA journal_mode = WAL')
  const store = createSqliteVersionStore({ database })
  const { receive } = createReceiver({ verify, store, handle: storePayment })
  return { receive, close: async () => database.close() }
}

/**
 * Your effect. Its writes through `tx` commit together with the version, or not at all. It returns no promise,
 * so no other statement joins the transaction. A delivery proves no sale: compare the payment with your own orders
 * before you release goods.
 */
export function storePayment(snapshot: Snapshot, tx: DatabaseSyncInstance): void {
  const { integrationAddress, chainId, txHash, version, state, invoice } = snapshot
  tx.prepare(
    `INSERT INTO received_payments (integration_address, chain_id, tx_hash, version, state, amount, currency)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (integration_address, chain_id, tx_hash) DO UPDATE
     SET version = excluded.version, state = excluded.state, amount = excluded.amount, currency = excluded.currency`,
  ).run(integrationAddress, chainId, txHash, version, state, invoice?.amount ?? null, invoice?.currency ?? null)
}
