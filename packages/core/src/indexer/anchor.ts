/** The first checkpoint of a chain: the block below the one where indexing starts. @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'

/** How far below the start a second known block lies: a reorganisation this deep, right after the start, is survived. */
export const anchorDepth = 64

/**
 * Stores the block below `start` as the checkpoint, so that the start is decided once and for all, and a block
 * {@link anchorDepth} deeper as one to go back to. After a reorganisation that reaches below the start, indexing goes on
 * from there, so that a few blocks before the start are indexed too.
 * @param start - First block to index, 1 or more.
 * @returns The stored checkpoint.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node lacks one of the blocks.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the chain has a checkpoint already.
 */
export async function plantAnchor(
  deps: { readonly chain: Chain; readonly store: Pick<Store, 'transaction'> },
  start: number,
  signal?: AbortSignal,
): Promise<Checkpoint> {
  const { chain, store } = deps
  const deep = await knownBlock(chain, Math.max(0, start - 1 - anchorDepth), signal)
  const base = await knownBlock(chain, start - 1, signal)
  signal?.throwIfAborted()
  await store.transaction(async (tx) => {
    if ((await tx.lockChain(chain.chainId)) !== null) throw new CheckpointMovedError(chain.chainId)
    await tx.setCheckpoint(chain.chainId, deep)
    await tx.setCheckpoint(chain.chainId, base)
  })
  return base
}

async function knownBlock(chain: Chain, number: number, signal: AbortSignal | undefined): Promise<Checkpoint> {
  const block = await chain.block(number, signal)
  if (block !== null) return { blockNumber: block.number, blockHash: block.hash }
  throw new ChainError(
    'ERR_CHAIN_UNAVAILABLE',
    chain.chainId,
    `The node of chain ${chain.chainId} has no block ${number}, below the start of indexing; it is asked again.`,
  )
}
