/** Drops payments that left the chain for good. Source: docs/decisions/reorganisations.md. @module */
import type { ServiceEvent } from '../events.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import { changeState } from './change-state.js'

/** Most payments that one transaction drops: each may cost a snapshot and a delivery. */
export const maxDropsPerCommit = 500

/**
 * Grace period, in blocks, to find the fulfilment of a deposit whose payment left the chain. The indexer does not read
 * such a payment again. After the period the payment is dropped; a later fulfilment restores it.
 */
export const awaitedBlocks = 1_000

/** How far a chain is indexed and final. */
export interface DropInput {
  readonly chainId: number
  /** Height up to which the chain is indexed, this transaction included. */
  readonly indexedTo: number
  /** Blocks on top of a block until it is final; null where no block ever is: nothing is dropped then. */
  readonly finalityBlocks: number | null
}

/**
 * Drops payments that are off the chain although the height of their former block is final. The primary payment becomes
 * `failure` with version + 1; one that failed before is unchanged. Call after `lockChain` and after the payments of the
 * newest blocks are stored.
 *
 * @returns Events to publish, and whether more payments are overdue: one call drops {@link maxDropsPerCommit} at most.
 */
export async function dropOverdue(
  tx: StoreTransaction,
  { chainId, indexedTo, finalityBlocks }: DropInput,
): Promise<{ readonly events: readonly ServiceEvent[]; readonly more: boolean }> {
  if (finalityBlocks === null || indexedTo < finalityBlocks) return { events: [], more: false }
  const final = indexedTo - finalityBlocks
  const overdue = await tx.overduePayments(chainId, final, maxDropsPerCommit, final - awaitedBlocks)
  const events: ServiceEvent[] = []
  for (const payment of overdue) {
    if (payment.primary) events.push(...(await changeState(tx, payment, 'failure')))
    await tx.setDropped(payment.id, { formerState: payment.state })
  }
  return { events, more: overdue.length === maxDropsPerCommit }
}
