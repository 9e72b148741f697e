/** Restores dropped payments that are on the chain again. Source: docs/decisions/reorganisations.md. @module */
import type { ServiceEvent } from '../events.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import { changeState } from './change-state.js'
import type { StoredPayment } from './record.js'

/**
 * Gives payments the state that they had when they were dropped, with version + 1; where a processor moved one on
 * since, its state stays. The caller holds them.
 *
 * @returns What happened, to be published after the commit.
 */
export async function restoreDropped(
  tx: StoreTransaction,
  returned: readonly StoredPayment[],
): Promise<ServiceEvent[]> {
  const events: ServiceEvent[] = []
  for (const payment of returned) {
    const { id, primary, state, dropped } = payment
    if (primary && state === 'failure' && dropped !== null)
      events.push(...(await changeState(tx, payment, dropped.formerState)))
    await tx.setDropped(id, null)
  }
  return events
}
