/** Goes back to the newest stored block that is still on the chain. Source: DESIGN section 3 (reorganisation, a block counts as done). @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import { BrokenHistoryError } from './broken-history-error.js'

const firstPage = 8
const largestPage = 1_024

/** What the search reads and writes. */
export interface ReorganiseDeps {
  readonly chain: Chain
  readonly store: Pick<Store, 'transaction'>
}

/**
 * Moves the checkpoint back to the common ancestor, once a second read of the node confirms that the block of `checkpoint`
 * left the chain, and marks the payments above it. They keep their record and status: reading the new blocks updates those that
 * were included again, and takes the mark away.
 * @returns The common ancestor, which is the stored checkpoint now.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node has no block where it must have one, or answers our own hash
 * and so contradicts itself: nothing is changed, ask again later.
 * @throws BrokenHistoryError `ERR_CHAIN_HISTORY_BROKEN` when no stored checkpoint is on the chain; nothing is changed.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when another indexer moved the checkpoint; nothing is changed.
 */
export async function reorganise(
  deps: ReorganiseDeps,
  checkpoint: Checkpoint,
  signal?: AbortSignal,
): Promise<Checkpoint> {
  const { chainId } = deps.chain
  if (await isOnChain(deps.chain, checkpoint, signal))
    throw new ChainError(
      'ERR_CHAIN_UNAVAILABLE',
      chainId,
      `The node of chain ${chainId} answered two hashes for block ${checkpoint.blockNumber}; it is asked again. ` +
        'If this repeats, the endpoint mixes nodes that disagree.',
    )
  const ancestor = await findAncestor(deps, checkpoint, signal)
  if (ancestor === null) throw new BrokenHistoryError(chainId, checkpoint.blockNumber)
  signal?.throwIfAborted()
  await deps.store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== checkpoint.blockNumber || stored.blockHash !== checkpoint.blockHash)
      throw new CheckpointMovedError(chainId)
    await tx.leaveChain(chainId, ancestor.blockNumber)
    await tx.setCheckpoint(chainId, ancestor)
  })
  return ancestor
}

/** The newest stored checkpoint below `checkpoint` that is on the chain, or null. Pages grow, so that a deep search asks little. */
async function findAncestor(
  { chain, store }: ReorganiseDeps,
  checkpoint: Checkpoint,
  signal: AbortSignal | undefined,
): Promise<Checkpoint | null> {
  let atOrBelow = checkpoint.blockNumber - 1
  for (let limit = firstPage; ; limit = Math.min(2 * limit, largestPage)) {
    const page = await store.transaction((tx) => tx.checkpoints(chain.chainId, atOrBelow, limit))
    const oldest = page.at(-1)
    if (oldest === undefined) return null
    if (await isOnChain(chain, oldest, signal)) return newestOnChain(chain, page, signal)
    atOrBelow = oldest.blockNumber - 1
  }
}

/** Binary search: in a page, newest first, whose last one is on the chain, all behind the first one on it are on it too. */
async function newestOnChain(
  chain: Chain,
  page: readonly Checkpoint[],
  signal: AbortSignal | undefined,
): Promise<Checkpoint | null> {
  let off = -1
  let on = page.length - 1
  while (on - off > 1) {
    const middle = off + Math.floor((on - off) / 2)
    const candidate = page[middle]
    if (candidate !== undefined && (await isOnChain(chain, candidate, signal))) on = middle
    else off = middle
  }
  return page[on] ?? null
}

async function isOnChain(chain: Chain, checkpoint: Checkpoint, signal: AbortSignal | undefined): Promise<boolean> {
  const block = await chain.block(checkpoint.blockNumber, signal)
  if (block !== null) return block.hash === checkpoint.blockHash
  throw new ChainError(
    'ERR_CHAIN_UNAVAILABLE',
    chain.chainId,
    `The node of chain ${chain.chainId} has no block ${checkpoint.blockNumber} below its own head; it is asked again.`,
  )
}
