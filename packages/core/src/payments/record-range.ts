/**
 * Commits the payments of a range of blocks together with the checkpoint. Source: docs/architecture.md,
 * docs/decisions/reorganisations.md.
 * @module
 */
import { CheckpointMovedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import type { BlockRange } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint } from '../ports/store-transaction.js'
import { dropOverdue } from './drop-overdue.js'
import { markPrimary } from './mark-primary.js'
import { chooseRecorded, type Recording } from './recording.js'
import { storePayments } from './store-payments.js'

/** How near the head a range is, and how deep a reorganisation may go. */
export interface HeadWindow {
  /** Height of the newest known block. */
  readonly head: number
  /** Blocks on top of a block until it is final; null where no block ever is. */
  readonly finalityBlocks: number | null
}

/** A range to commit. */
export interface RangeToRecord {
  readonly chainId: number
  /** The checkpoint below this range, as the indexer read it; null when the chain is new. */
  readonly expected: Checkpoint | null
  readonly range: BlockRange
  readonly window: HeadWindow
  /** @default 'all' */
  readonly recording?: Recording | undefined
}

/** Hashes are stored at least this many blocks below the head, so that a reorganisation finds its exact ancestor. */
export const keptHashes = 256

/**
 * Records a range in one transaction: payments with version 1, its snapshot and outbox row; waiting updates; deposits;
 * the checkpoint with the hashes near the head; the proof. Recording blocks again changes the chain's facts of a
 * payment alone; a dropped payment gets its state back. Payments off the chain whose former height is now final are
 * dropped, up to a limit for each commit.
 *
 * @returns Events to publish now that they are durable.
 *
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the stored checkpoint is not `expected`: nothing was
 * written.
 *
 * @throws RangeError When the range does not begin on top of `expected`, before anything is read or written.
 */
export async function recordRange(
  store: Pick<Store, 'transaction'>,
  input: RangeToRecord,
): Promise<readonly ServiceEvent[]> {
  const { chainId, expected, range, window, recording = 'all' } = input
  const { first, last, proof, endpoint } = range
  assertContinues(expected, range)
  const below = keptBelow(range, window)
  return store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== expected?.blockNumber || stored?.blockHash !== expected?.blockHash)
      throw new CheckpointMovedError(chainId)
    const { payments, deposits, events: skipped } = await chooseRecorded(tx, recording, { ...range, chainId })
    const events = payments.length === 0 ? [] : await storePayments(tx, markPrimary(payments))
    if (deposits.length > 0) await tx.upsertDeposits(deposits)
    await tx.setCheckpoint(chainId, { blockNumber: last.number, blockHash: last.hash }, below)
    await tx.addProof(chainId, { from: first.number, to: last.number, proof, endpoint })
    // After the payments of the range: one that it restored is not overdue.
    const dropped = await dropOverdue(tx, { chainId, indexedTo: last.number, finalityBlocks: window.finalityBlocks })
    return [...events, ...skipped, ...dropped.events]
  })
}

function assertContinues(expected: Checkpoint | null, { first }: BlockRange): void {
  if (expected === null) return
  if (first.number === expected.blockNumber + 1 && first.parentHash === expected.blockHash) return
  throw new RangeError(
    `Block ${first.number} does not follow the checkpoint at ${expected.blockNumber}; pass the range above it, on the same branch.`,
  )
}

function keptBelow({ blocks, last }: BlockRange, { head, finalityBlocks }: HeadWindow): Checkpoint[] {
  const lowest = head - Math.max(keptHashes, finalityBlocks ?? 0)
  return blocks
    .filter(({ number }) => number >= lowest && number < last.number)
    .map(({ number, hash }) => ({ blockNumber: number, blockHash: hash }))
}
