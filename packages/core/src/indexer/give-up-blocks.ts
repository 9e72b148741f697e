/** Gives up the newest blocks of a chain. Source: DESIGN section 3 (reorganisation). @module */
import type { Checkpoint, StoreTransaction } from '../ports/store-transaction.js'

/** Which blocks stay. */
export interface BlocksToGiveUp {
  readonly chainId: number
  /** The newest block that stays. */
  readonly to: Checkpoint
  /** Blocks on top of a block until it is final; null where no block ever is. */
  readonly finalityBlocks: number | null
}

/**
 * Moves the checkpoint down, marks the payments above it as off the chain and forgets the deposits that wait there. Of the blocks that
 * stay, those that were final remain so; of those that are read in their place none is, before it has its own confirmations. Call after
 * `lockChain`.
 */
export async function giveUpBlocks(
  tx: Pick<StoreTransaction, 'leaveChain' | 'reached' | 'setCheckpoint' | 'setReached'>,
  { chainId, to, finalityBlocks }: BlocksToGiveUp,
): Promise<void> {
  const reached = (await tx.reached(chainId)) ?? to.blockNumber
  await tx.leaveChain(chainId, to.blockNumber)
  await tx.setCheckpoint(chainId, to)
  await tx.setReached(chainId, Math.min(reached, to.blockNumber + (finalityBlocks ?? 0)))
}
