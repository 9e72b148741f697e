/** Whether a stored block is on the chain that the node shows. @module */
import { ChainError } from '../errors.js'
import type { Chain } from '../ports/chain.js'
import type { Checkpoint } from '../ports/store-transaction.js'

/** @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node has no block at that height: it may lag. */
export async function isOnChain(chain: Chain, checkpoint: Checkpoint, signal?: AbortSignal): Promise<boolean> {
  const block = await chain.block(checkpoint.blockNumber, signal)
  if (block !== null) return block.hash === checkpoint.blockHash
  throw new ChainError(
    'ERR_CHAIN_UNAVAILABLE',
    chain.chainId,
    `The node of chain ${chain.chainId} has no block ${checkpoint.blockNumber} below its own head; the read is retried.`,
  )
}
