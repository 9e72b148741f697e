/** Repairs lost deliveries, on a timer. @module */
import { type Client, type Payment, type ReconcileCheckpoint, reconcile } from '@payment-integration/client'
import type { PostgresVersionStore } from '@payment-integration/version-store/postgres'
import type { Pool, PoolClient } from 'pg'
import { applySnapshot } from './orders.js'

/** Dependencies of the reconciler. */
export interface ReconcilerParts {
  readonly client: Client
  /** The store of the deliveries. */
  readonly store: PostgresVersionStore<PoolClient>
  readonly pool: Pool
  /** Receives a line when a run repaired something or failed. */
  readonly report: (line: string) => void
}

/** Runs once, from the checkpoint of the last run. Resolves with the number of repaired payments. */
export async function reconcileOnce({ client, store, pool, report }: ReconcilerParts): Promise<number> {
  const result = await reconcile(client, {
    from: store,
    handle: (payment: Payment, tx: PoolClient) => applySnapshot(tx, payment, report),
    checkpoint: await readCheckpoint(pool),
    onCheckpoint: (checkpoint) => storeCheckpoint(pool, checkpoint),
  })
  if (result.repaired > 0) report(`reconciled: ${result.missing.count} missing, ${result.stale.count} stale`)
  return result.repaired
}

/** Runs every `everyMs` milliseconds, one run at a time, until the signal aborts. */
export async function reconcileUntil(signal: AbortSignal, everyMs: number, parts: ReconcilerParts): Promise<void> {
  while (!signal.aborted) {
    await reconcileOnce(parts).catch((error: unknown) => parts.report(`reconciling failed: ${String(error)}`))
    await pause(everyMs, signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

async function readCheckpoint(pool: Pool): Promise<ReconcileCheckpoint | null> {
  const { rows } = await pool.query<{ checkpoint: ReconcileCheckpoint }>('select checkpoint from reconcile_checkpoint')
  return rows[0]?.checkpoint ?? null
}

async function storeCheckpoint(pool: Pool, checkpoint: ReconcileCheckpoint): Promise<void> {
  await pool.query(
    'insert into reconcile_checkpoint (checkpoint) values ($1) on conflict (one) do update set checkpoint = excluded.checkpoint',
    [JSON.stringify(checkpoint)],
  )
}
