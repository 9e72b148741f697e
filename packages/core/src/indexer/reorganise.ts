/** Goes back to the newest stored block that is still on the chain. Source: DESIGN section 3 (reorganisation, a block counts as done). @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import { anchorDepth } from './anchor.js'
import { BrokenHistoryError } from './broken-history-error.js'
import { DeepReorganisationError } from './deep-reorganisation-error.js'
import { giveUpBlocks } from './give-up-blocks.js'
import { isOnChain } from './is-on-chain.js'

const firstPage = 8
const largestPage = 1_024

/** What the search reads and writes. */
export interface ReorganiseDeps {
  readonly chain: Chain
  readonly store: Pick<Store, 'transaction'>
  /** Blocks on top of a block until it is final; null where no block ever is: no reorganisation is too deep then. */
  readonly finalityBlocks: number | null
}

/**
 * Moves the checkpoint back to the common ancestor, once a second read of the node confirms that the block of `checkpoint`
 * left the chain, marks the payments above it and forgets the deposits that wait there. Payments keep their record and status: reading
 * the new blocks updates those that were included again, and takes the mark away.
 * @returns The common ancestor, which is the stored checkpoint now.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node has no block where it must have one, or answers our own hash
 * and so contradicts itself: nothing is changed, ask once more.
 * @throws BrokenHistoryError `ERR_CHAIN_HISTORY_BROKEN` when no stored checkpoint is on the chain; nothing is changed.
 * @throws DeepReorganisationError `ERR_CHAIN_REORG_TOO_DEEP` when a block that was final left the chain; nothing is changed.
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
  const found = await findAncestor(deps, checkpoint, signal)
  if (found === null) throw new BrokenHistoryError(chainId, checkpoint.blockNumber)
  const { ancestor } = found
  if (isTooDeep(deps.finalityBlocks, found))
    throw new DeepReorganisationError(chainId, {
      blockNumber: checkpoint.blockNumber,
      commonAncestor: ancestor.blockNumber,
    })
  signal?.throwIfAborted()
  await deps.store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== checkpoint.blockNumber || stored.blockHash !== checkpoint.blockHash)
      throw new CheckpointMovedError(chainId)
    await giveUpBlocks(tx, { chainId, to: ancestor, finalityBlocks: deps.finalityBlocks })
  })
  return ancestor
}

/** The end of a search. */
interface FoundAncestor {
  /** The newest stored block that is on the chain. */
  readonly ancestor: Checkpoint
  /** Height of the oldest stored block that is not. */
  readonly lowestGone: number
  /** How high the stored blocks were built upon. */
  readonly reached: number
}

/** Searches below `checkpoint`; null when no stored block is on the chain. Pages grow, so that a deep search asks little. */
async function findAncestor(
  { chain, store }: ReorganiseDeps,
  checkpoint: Checkpoint,
  signal: AbortSignal | undefined,
): Promise<FoundAncestor | null> {
  let lowestGone = checkpoint.blockNumber
  for (let limit = firstPage; ; limit = Math.min(2 * limit, largestPage)) {
    const { page, reached } = await store.transaction(async (tx) => ({
      page: await tx.checkpoints(chain.chainId, lowestGone - 1, limit),
      reached: (await tx.reached(chain.chainId)) ?? checkpoint.blockNumber,
    }))
    const oldest = page.at(-1)
    if (oldest === undefined) return null
    if (await isOnChain(chain, oldest, signal)) {
      const [on, ...gone] = (await splitPage(chain, page, signal)).reverse()
      return on === undefined ? null : { ancestor: on, lowestGone: gone[0]?.blockNumber ?? lowestGone, reached }
    }
    lowestGone = oldest.blockNumber
  }
}

/**
 * Binary search in a page, newest first, whose last one is on the chain: all behind the first one on it are on it too.
 * @returns The page up to and including the first one that is on the chain.
 */
async function splitPage(
  chain: Chain,
  page: readonly Checkpoint[],
  signal: AbortSignal | undefined,
): Promise<Checkpoint[]> {
  let off = -1
  let on = page.length - 1
  while (on - off > 1) {
    const middle = off + Math.floor((on - off) / 2)
    const candidate = page[middle]
    if (candidate !== undefined && (await isOnChain(chain, candidate, signal))) on = middle
    else off = middle
  }
  return page.slice(0, on + 1)
}

/**
 * Whether a block that was final left the chain, in one reorganisation or in several that follow each other. Near the head every hash is kept, so that
 * the ancestor is exact. Where many heights lie between it and what is gone, they were committed far below the head, and were final then; or
 * they lie so deep that the store keeps few, and some may be final. Where few do, they are those below the first block that was indexed, and
 * nothing there can be taken back.
 */
function isTooDeep(finalityBlocks: number | null, { ancestor, lowestGone, reached }: FoundAncestor): boolean {
  if (finalityBlocks === null || reached - ancestor.blockNumber <= finalityBlocks) return false
  return lowestGone + finalityBlocks <= reached || lowestGone - ancestor.blockNumber > anchorDepth
}
