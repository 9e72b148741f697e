/** Restores dropped payments that are on the chain again. Source: docs/decisions/reorganisations.md. @module */
import type { ServiceEvent } from '../events.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import { changeState } from './change-state.js'
import type { StoredPayment } from './record.js'

/**
 * Restores the state that each payment had before it was dropped, with version + 1. A payment whose state a processor
 * changed since then keeps that state. The caller has locked the payments.
 *
 * @returns Events to publish after the commit.
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
