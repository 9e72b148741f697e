/**
 * Rolls back orphaned blocks of any depth on an operator's command. Source: docs/decisions/reorganisations.md.
 * @module
 */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { isOnChain } from '../indexer/is-on-chain.js'
import { rollBack } from '../indexer/roll-back.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import { ReindexError } from './reindex-error.js'

/** The blocks to replace. */
export interface OrphanedBlocks {
  readonly from: number
  readonly to: number
  /** The stored checkpoint, which is orphaned. */
  readonly checkpoint: Checkpoint
  /** Blocks on top of a block until it is final; null where no block ever is. */
  readonly finalityBlocks: number | null
}

/**
 * Moves the checkpoint to the block below `from`, however deep, and marks the payments above as off the chain. An
 * indexer may go on from there at any time; reading the new blocks removes the mark from the payments that are included
 * again.
 * @returns The event to publish.
 * @throws ReindexError `ERR_REINDEX_REFUSED` when `to` leaves orphaned blocks, or the newest stored block below `from`
 * is orphaned too or missing; nothing is changed.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node contradicts itself; nothing is changed.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when an indexer moved the checkpoint; nothing is changed.
 */
export async function rollBackOrphaned(
  { store, chain }: { readonly store: Pick<Store, 'transaction'>; readonly chain: Chain },
  { from, to, checkpoint, finalityBlocks }: OrphanedBlocks,
  signal?: AbortSignal,
): Promise<ServiceEvent> {
  const { chainId } = chain
  const { blockNumber } = checkpoint
  if (to !== blockNumber)
    throw new ReindexError(
      chainId,
      `Block ${blockNumber}, up to which chain ${chainId} is indexed, is not on the chain that the node shows; ` +
        'read up to it, so that no orphaned block is left.',
    )
  const base = await blockBelow(chain, from, signal)
  const [newest] = await store.transaction((tx) => tx.checkpoints(chainId, from - 1, 1))
  if (newest === undefined)
    throw new ReindexError(
      chainId,
      `No block below ${from} of chain ${chainId} is stored, so nothing shows that the node follows the same chain; begin higher.`,
    )
  if (!(await isOnChain(chain, newest, signal)))
    throw new ReindexError(
      chainId,
      `Block ${newest.blockNumber} of chain ${chainId}, which is indexed, is not on the chain that the node shows either; ` +
        `begin at ${newest.blockNumber} or below.`,
    )
  if (await isOnChain(chain, checkpoint, signal))
    throw new ChainError(
      'ERR_CHAIN_UNAVAILABLE',
      chainId,
      `The node of chain ${chainId} answered two hashes for block ${blockNumber}; run the command again, or with another node.`,
    )
  signal?.throwIfAborted()
  await store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== blockNumber || stored.blockHash !== checkpoint.blockHash)
      throw new CheckpointMovedError(chainId)
    await rollBack(tx, { chainId, to: base, finalityBlocks })
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
