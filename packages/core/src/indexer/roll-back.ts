/** Rolls a chain back to an older block. Source: docs/decisions/reorganisations.md. @module */
import type { Checkpoint, StoreTransaction } from '../ports/store-transaction.js'

/** How far to roll back. */
export interface RollBack {
  readonly chainId: number
  /** The newest block that stays. */
  readonly to: Checkpoint
  /** Blocks on top of a block until it is final; null where no block ever is. */
  readonly finalityBlocks: number | null
}

/**
 * Moves the checkpoint down, marks the payments above it as off the chain and deletes the deposits that wait there.
 * Blocks that stay and were final remain final; the blocks that replace the orphaned ones need their own confirmations.
 * Call after `lockChain`.
 */
export async function rollBack(
  tx: Pick<StoreTransaction, 'leaveChain' | 'reached' | 'setCheckpoint' | 'setReached'>,
  { chainId, to, finalityBlocks }: RollBack,
): Promise<void> {
  const reached = (await tx.reached(chainId)) ?? to.blockNumber
  await tx.leaveChain(chainId, to.blockNumber)
  await tx.setCheckpoint(chainId, to)
  await tx.setReached(chainId, Math.min(reached, to.blockNumber + (finalityBlocks ?? 0)))
}
