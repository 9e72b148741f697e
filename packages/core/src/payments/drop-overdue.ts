/** Payments that left the chain for good. Source: docs/decisions/reorganisations.md. @module */
import type { ServiceEvent } from '../events.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import { changeState } from './change-state.js'

/** Most payments that one transaction drops: each may cost a snapshot and a delivery. */
export const maxDropsPerCommit = 500

/**
 * For so many blocks more it is looked for what fulfilled a deposit whose payment left the chain: nobody reads it again
 * with the blocks. Then the payment is dropped as well, and comes back like any other should it be found after all.
 */
export const awaitedBlocks = 1_000

/** Where a chain stands. */
export interface DropInput {
  readonly chainId: number
  /** Height up to which the chain is indexed, this transaction included. */
  readonly indexedTo: number
  /** Blocks on top of a block until it is final; null where no block ever is: nothing is dropped then. */
  readonly finalityBlocks: number | null
}

/**
 * Drops payments that no block holds although the height that they left is final: the one that area (a) shows becomes
 * `failure` with version + 1, or stays as it is when it failed before. Call after `lockChain`, with the payments of the
 * newest blocks stored.
 *
 * @returns What happened, and whether more are left: at most {@link maxDropsPerCommit} are dropped at a time.
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
