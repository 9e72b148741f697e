/** Gives up the stored branch of a chain for the one that a node shows. Source: DESIGN section 3 (reorganisation). @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { giveUpBlocks } from '../indexer/give-up-blocks.js'
import { isOnChain } from '../indexer/is-on-chain.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import { ReindexError } from './reindex-error.js'

/** The blocks that are to be read anew. */
export interface BranchToTake {
  readonly from: number
  readonly to: number
  /** The stored checkpoint, which is not on the chain. */
  readonly checkpoint: Checkpoint
  /** Blocks on top of a block until it is final; null where no block ever is. */
  readonly finalityBlocks: number | null
}

/**
 * Moves the checkpoint to the block below `from`, however deep, and marks the payments above as off the chain, so that an
 * indexer may go on from there at any time. Reading the new blocks takes the mark away from those that are on them.
 * @returns What happened, to be published.
 * @throws ReindexError `ERR_REINDEX_REFUSED` when `to` leaves blocks of the old branch, or the newest stored block below `from` is not
 * on the chain either, or there is none; nothing is changed.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node contradicts itself; nothing is changed.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when an indexer moved the checkpoint; nothing is changed.
 */
export async function takeBranch(
  { store, chain }: { readonly store: Pick<Store, 'transaction'>; readonly chain: Chain },
  { from, to, checkpoint, finalityBlocks }: BranchToTake,
  signal?: AbortSignal,
): Promise<ServiceEvent> {
  const { chainId } = chain
  const { blockNumber } = checkpoint
  if (to !== blockNumber)
    throw new ReindexError(
      chainId,
      `Block ${blockNumber}, up to which chain ${chainId} is indexed, is not on the chain that the node shows; ` +
        'read up to it, so that no block of the other branch is left.',
    )
  const base = await blockBelow(chain, from, signal)
  const [known] = await store.transaction((tx) => tx.checkpoints(chainId, from - 1, 1))
  if (known === undefined)
    throw new ReindexError(
      chainId,
      `No block below ${from} of chain ${chainId} is known, so nothing shows that the node follows the same chain; begin higher.`,
    )
  if (!(await isOnChain(chain, known, signal)))
    throw new ReindexError(
      chainId,
      `Block ${known.blockNumber} of chain ${chainId}, which is indexed, is not on the chain that the node shows either; ` +
        `begin at ${known.blockNumber} or below.`,
    )
  if (await isOnChain(chain, checkpoint, signal))
    throw new ChainError(
      'ERR_CHAIN_UNAVAILABLE',
      chainId,
      `The node of chain ${chainId} answered two hashes for block ${blockNumber}; ask again, or another one.`,
    )
  signal?.throwIfAborted()
  await store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== blockNumber || stored.blockHash !== checkpoint.blockHash)
      throw new CheckpointMovedError(chainId)
    await giveUpBlocks(tx, { chainId, to: base, finalityBlocks })
  })
  return { type: 'chain.reorganised', chainId, from: blockNumber, commonAncestor: base.blockNumber }
}

async function blockBelow(chain: Chain, from: number, signal: AbortSignal | undefined): Promise<Checkpoint> {
  const block = from === 0 ? null : await chain.block(from - 1, signal)
  if (block !== null) return { blockNumber: block.number, blockHash: block.hash }
  throw new ReindexError(
    chain.chainId,
    `The node of chain ${chain.chainId} shows no block below ${from}; begin higher, or ask another node.`,
  )
}
