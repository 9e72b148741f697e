/** Rolls back to the common ancestor after a reorganisation. Source: docs/decisions/reorganisations.md. @module */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import { BrokenHistoryError } from './broken-history-error.js'
import { DeepReorganisationError } from './deep-reorganisation-error.js'
import { isOnChain } from './is-on-chain.js'
import { rollBack } from './roll-back.js'
import { startDepth } from './start-checkpoint.js'

/** Checkpoints that the search reads at first, and at most, at a time. */
const firstPage = 8
const largestPage = 1_024

/** Dependencies of a reorganisation. */
export interface ReorganiseDeps {
  readonly chain: Chain
  readonly store: Pick<Store, 'transaction'>
  /** Blocks on top of a block until it is final; null where no block ever is: no reorganisation is too deep then. */
  readonly finalityBlocks: number | null
}

/**
 * Reads the block of `checkpoint` a second time, and rolls back to the common ancestor when it is orphaned. Payments
 * keep their record and status: reading the new blocks updates those that are included again, and removes their mark.
 * @returns The common ancestor, which is the stored checkpoint now.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node lacks a block below its head, or answers the stored hash and
 * so contradicts itself; nothing is changed, and the call may be retried.
 * @throws BrokenHistoryError `ERR_CHAIN_HISTORY_BROKEN` when no stored checkpoint is on the chain; nothing is changed.
 * @throws DeepReorganisationError `ERR_CHAIN_REORG_TOO_DEEP` when a final block was orphaned; nothing is changed.
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
      `The node of chain ${chainId} answered two hashes for block ${checkpoint.blockNumber}; the read is retried. ` +
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
    await rollBack(tx, { chainId, to: ancestor, finalityBlocks: deps.finalityBlocks })
  })
  return ancestor
}

/** The result of the search. */
interface FoundAncestor {
  /** The newest stored block that is on the chain. */
  readonly ancestor: Checkpoint
  /** Height of the oldest stored block that is orphaned. */
  readonly lowestOrphaned: number
  /** Highest block that was built on the stored blocks. */
  readonly reached: number
}

/**
 * Searches below `checkpoint`; null when no stored block is on the chain. Pages grow, so that a deep search needs few
 * reads.
 */
async function findAncestor(
  { chain, store }: ReorganiseDeps,
  checkpoint: Checkpoint,
  signal: AbortSignal | undefined,
): Promise<FoundAncestor | null> {
  let lowestOrphaned = checkpoint.blockNumber
  for (let limit = firstPage; ; limit = Math.min(2 * limit, largestPage)) {
    const { page, reached } = await store.transaction(async (tx) => ({
      page: await tx.checkpoints(chain.chainId, lowestOrphaned - 1, limit),
      reached: (await tx.reached(chain.chainId)) ?? checkpoint.blockNumber,
    }))
    const oldest = page.at(-1)
    if (oldest === undefined) return null
    if (await isOnChain(chain, oldest, signal)) {
      const [newest, ...orphaned] = (await splitPage(chain, page, signal)).reverse()
      if (newest === undefined) return null
      return { ancestor: newest, lowestOrphaned: orphaned[0]?.blockNumber ?? lowestOrphaned, reached }
    }
    lowestOrphaned = oldest.blockNumber
  }
}

/**
 * Binary search in a page, newest first, whose last checkpoint is on the chain.
 * @returns The page up to and including its newest checkpoint on the chain.
 */
async function splitPage(
  chain: Chain,
  page: readonly Checkpoint[],
  signal: AbortSignal | undefined,
): Promise<Checkpoint[]> {
  let orphaned = -1
  let onChain = page.length - 1
  while (onChain - orphaned > 1) {
    const middle = orphaned + Math.floor((onChain - orphaned) / 2)
    const candidate = page[middle]
    if (candidate !== undefined && (await isOnChain(chain, candidate, signal))) onChain = middle
    else orphaned = middle
  }
  return page.slice(0, onChain + 1)
}

/**
 * Whether a final block was orphaned, by one reorganisation or by several in a row.
 *
 * Near the head every hash is stored, so the ancestor is exact. A long gap between the ancestor and the oldest orphaned
 * checkpoint has two causes. Its heights were committed far below the head, and were final then. Or they are so deep
 * that the store keeps few of them, and some may be final. A short gap lies below the first indexed block, where no
 * payment is stored.
 */
function isTooDeep(finalityBlocks: number | null, { ancestor, lowestOrphaned, reached }: FoundAncestor): boolean {
  if (finalityBlocks === null || reached - ancestor.blockNumber <= finalityBlocks) return false
  return lowestOrphaned + finalityBlocks <= reached || lowestOrphaned - ancestor.blockNumber > startDepth
}
