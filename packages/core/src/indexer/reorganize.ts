/** Rolls back to the common ancestor after a reorg. Source: docs/decisions/reorganizations.md. @module */
import { ChainError, CodedError } from '../errors.js'
import { lockChainAt, toCheckpoint } from '../payments/record-range.js'
import type { Chain } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from './chain-store.js'

/** No stored checkpoint is on the node's chain: the node follows another chain, or the reorg is too deep. */
export class BrokenHistoryError extends CodedError<'ERR_CHAIN_HISTORY_BROKEN'> {
  override readonly name = 'BrokenHistoryError'
  override readonly retryable = true
  readonly chainId: number
  constructor(chainId: number, blockNumber: number) {
    super(
      'ERR_CHAIN_HISTORY_BROKEN',
      `Chain ${chainId}: no stored checkpoint up to block ${blockNumber} is on the chain that the node shows. ` +
        'Indexing of this chain has stopped and is retried. Check that the node follows the right chain; ' +
        'if it does, index this chain into an empty database.',
    )
    this.chainId = chainId
  }
}

/** Final blocks were orphaned. Nothing is indexed until an operator decides whether the node is right; reads go on. */
export class DeepReorgError extends CodedError<'ERR_CHAIN_REORG_TOO_DEEP'> {
  override readonly name = 'DeepReorgError'
  /** A later retry may find the stored blocks again, or a repaired chain. */
  override readonly retryable = true
  readonly chainId: number
  /** Height of the newest stored block that is on the chain. */
  readonly commonAncestor: number
  constructor(chainId: number, blockNumber: number, commonAncestor: number) {
    super(
      'ERR_CHAIN_REORG_TOO_DEEP',
      `Chain ${chainId}: blocks ${commonAncestor + 1} to ${blockNumber} are not on the chain that the node shows, and some of them ` +
        'were final. Indexing of this chain has stopped; reads go on. Check with another node which blocks are right; to follow ' +
        `those of this node, run: payment-integration reindex --chain ${chainId} --from ${commonAncestor + 1}`,
    )
    this.chainId = chainId
    this.commonAncestor = commonAncestor
  }
}

/** @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the node has no block at that height: it may lag. */
export async function isOnChain(chain: Chain, checkpoint: Checkpoint, signal?: AbortSignal): Promise<boolean> {
  return (await readCheckpoint(chain, checkpoint.blockNumber, signal)).blockHash === checkpoint.blockHash
}

/** Distance between the two blocks stored at the start. A reorg soon after the start may be this deep. */
const startDepth = 64
/** The limit for a read of every stored hash: a search of fewer could miss the ancestor of a deep reorg. */
const allHashes = Number.MAX_SAFE_INTEGER

/**
 * Stores the block below `start` as the checkpoint, which decides the start for good, and a block {@link startDepth}
 * deeper, from which indexing goes on after a reorg below the start.
 */
export async function storeStart(
  { chain, store }: Pick<ReorganizeDeps, 'chain' | 'store'>,
  start: number,
  signal?: AbortSignal,
): Promise<Checkpoint> {
  const deep = await readCheckpoint(chain, Math.max(0, start - 1 - startDepth), signal)
  const base = await readCheckpoint(chain, start - 1, signal)
  signal?.throwIfAborted()
  await store.transaction(async (tx) => {
    await lockChainAt(tx, chain.chainId, null)
    await tx.setCheckpoint(chain.chainId, deep)
    await tx.setCheckpoint(chain.chainId, base)
  })
  return base
}

async function readCheckpoint(chain: Chain, number: number, signal?: AbortSignal): Promise<Checkpoint> {
  const block = await chain.block(number, signal)
  if (block !== null) return toCheckpoint(block)
  throw new ChainError(
    'ERR_CHAIN_UNAVAILABLE',
    chain.chainId,
    `The node of chain ${chain.chainId} has no block ${number} below its own head; the read is retried.`,
  )
}

/**
 * Moves the stored `checkpoint` down to `ancestor`. Above it, payments are marked as off the chain, and waiting
 * deposits are deleted. Remaining final blocks stay final; new blocks need their own confirmations.
 */
export async function rollBack(
  { chain: { chainId }, store, finalityBlocks }: ReorganizeDeps,
  checkpoint: Checkpoint,
  ancestor: Checkpoint,
): Promise<void> {
  const { blockNumber } = ancestor
  await store.transaction(async (tx) => {
    await lockChainAt(tx, chainId, checkpoint)
    const reached = (await tx.reached(chainId)) ?? blockNumber
    await tx.markOffChainAbove(chainId, blockNumber)
    await tx.setCheckpoint(chainId, ancestor)
    await tx.setReached(chainId, Math.min(reached, blockNumber + (finalityBlocks ?? 0)))
  })
}

export interface ReorganizeDeps {
  readonly chain: Chain
  readonly store: Pick<Store, 'transaction'>
  /** Blocks on top of a block until it is final; null where no block ever is: no reorg is too deep then. */
  readonly finalityBlocks: number | null
}

/**
 * Reads the block of `checkpoint` again and, if that block is orphaned, rolls back to the common ancestor. Payments
 * keep their record and status: reading the new blocks updates those that are included again, and unmarks them.
 */
export async function reorganize(
  deps: ReorganizeDeps,
  checkpoint: Checkpoint,
  signal?: AbortSignal,
): Promise<Checkpoint> {
  const { chainId } = deps.chain
  if (await isOnChain(deps.chain, checkpoint, signal))
    throw new ChainError(
      'ERR_CHAIN_UNAVAILABLE',
      chainId,
      `The node of chain ${chainId} answered two hashes for block ${checkpoint.blockNumber}; the read is retried. ` +
        'If this repeats, the URL of this node leads to several that disagree.',
    )
  const ancestor = await findAncestor(deps, checkpoint, signal)
  signal?.throwIfAborted()
  await rollBack(deps, checkpoint, ancestor)
  return ancestor
}

/**
 * Finds the newest stored block that is on the chain. Most reorgs are shallow: probes go deeper in doubling steps, then
 * halve. Throws BrokenHistoryError when there is none, and DeepReorgError when a final block was orphaned.
 */
async function findAncestor(
  { chain, store, finalityBlocks }: ReorganizeDeps,
  { blockNumber }: Checkpoint,
  signal: AbortSignal | undefined,
): Promise<Checkpoint> {
  const { chainId } = chain
  const { stored, reached } = await store.transaction(async (tx) => ({
    stored: await tx.checkpoints(chainId, blockNumber - 1, allHashes),
    reached: (await tx.reached(chainId)) ?? blockNumber,
  }))
  // Indexes in `stored`, which is newest first.
  let orphanedIndex = -1
  let onChainIndex = stored.length
  let step = 8
  while (onChainIndex - orphanedIndex > 1) {
    const isFound = onChainIndex < stored.length
    const middle = Math.floor((orphanedIndex + onChainIndex) / 2)
    const probe = isFound ? middle : Math.min(stored.length - 1, orphanedIndex + step)
    step *= 2
    const candidate = stored[probe]
    if (candidate !== undefined && (await isOnChain(chain, candidate, signal))) onChainIndex = probe
    else orphanedIndex = probe
  }
  const ancestor = stored[onChainIndex]
  if (ancestor === undefined) throw new BrokenHistoryError(chainId, blockNumber)
  if (finalityBlocks === null || reached - ancestor.blockNumber <= finalityBlocks) return ancestor
  // Near the head every hash is stored, so the ancestor is exact. Blocks in a long gap below the oldest orphaned
  // checkpoint were committed far below the head, or are so deep that few hashes are stored. Both were final. A short
  // gap lies below the first indexed block, where no payment is stored.
  const lowestOrphaned = stored[orphanedIndex]?.blockNumber ?? blockNumber
  if (lowestOrphaned + finalityBlocks > reached && lowestOrphaned - ancestor.blockNumber <= startDepth) return ancestor
  throw new DeepReorgError(chainId, blockNumber, ancestor.blockNumber)
}
