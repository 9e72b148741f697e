/** Stores the first checkpoint: the block below the first indexed one. @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'

/**
 * Depth of the second stored block below the start: a reorganisation this deep, right after the start, finds its
 * ancestor.
 */
export const startDepth = 64

/**
 * Stores the block below `start` as the checkpoint, which decides the start for good, and a block {@link startDepth}
 * deeper. After a reorganisation below the start, indexing goes on from the deeper block: a few blocks before the start
 * are indexed too.
 * @param start - First block to index, 1 or more.
 * @returns The stored checkpoint.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node lacks one of the blocks.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the chain has a checkpoint already.
 */
export async function storeStart(
  deps: { readonly chain: Chain; readonly store: Pick<Store, 'transaction'> },
  start: number,
  signal?: AbortSignal,
): Promise<Checkpoint> {
  const { chain, store } = deps
  const deep = await checkpointAt(chain, Math.max(0, start - 1 - startDepth), signal)
  const base = await checkpointAt(chain, start - 1, signal)
  signal?.throwIfAborted()
  await store.transaction(async (tx) => {
    if ((await tx.lockChain(chain.chainId)) !== null) throw new CheckpointMovedError(chain.chainId)
    await tx.setCheckpoint(chain.chainId, deep)
    await tx.setCheckpoint(chain.chainId, base)
  })
  return base
}

async function checkpointAt(chain: Chain, number: number, signal: AbortSignal | undefined): Promise<Checkpoint> {
  const block = await chain.block(number, signal)
  if (block !== null) return { blockNumber: block.number, blockHash: block.hash }
  throw new ChainError(
    'ERR_CHAIN_UNAVAILABLE',
    chain.chainId,
    `The node of chain ${chain.chainId} has no block ${number}, below the start of indexing; the read is retried.`,
  )
}
