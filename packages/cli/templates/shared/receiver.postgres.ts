/** Receives payment notifications: verifies them, and runs your effect once for each version of a payment. */
import { createReceiver } from '@payment-integration/version-store'
import { createPostgresVersionStore } from '@payment-integration/version-store/postgres'
import { createVerifier, type Snapshot } from '@payment-integration/webhook'
import { Pool, type PoolClient } from 'pg'

/** Opens the database and makes the receiver. The variables are those of `.env.example`. */
export function openReceiver(env: { readonly [name: string]: string | undefined }) {
  const { WEBHOOK_SIGNING_SECRET, DATABASE_URL } = env
  if (!WEBHOOK_SIGNING_SECRET || !DATABASE_URL) throw new Error('Set WEBHOOK_SIGNING_SECRET and DATABASE_URL.')
  // Two secrets, separated by a comma, while the signing secret is rotated.
  const { verify } = createVerifier({ secrets: WEBHOOK_SIGNING_SECRET.split(',').map((secret) => secret.trim()) })
  const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 3000 })
  // The next use replaces a broken idle connection. Without a listener its error would end the process.
  pool.on('error', (error) => console.error(error.message))
  const store = createPostgresVersionStore({ database: pool })
  const { receive } = createReceiver({ verify, store, handle: storePayment })
  return { receive, close: () => pool.end() }
}

/**
 * Your effect. Its writes through `tx` commit together with the version, or not at all. A delivery proves no
 * sale: compare the payment with your own orders before you release goods.
 */
export async function storePayment(snapshot: Snapshot, tx: PoolClient): Promise<void> {
  const { integrationAddress, chainId, txHash, version, state, invoice } = snapshot
  await tx.query(
    `INSERT INTO received_payments (integration_address, chain_id, tx_hash, version, state, amount, currency)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (integration_address, chain_id, tx_hash) DO UPDATE
     SET version = excluded.version, state = excluded.state, amount = excluded.amount, currency = excluded.currency`,
    [integrationAddress, chainId, txHash, version, state, invoice?.amount ?? null, invoice?.currency ?? null],
  )
}
