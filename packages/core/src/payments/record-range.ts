/** Commits the payments of a range of blocks with the checkpoint. Source: docs/architecture.md. @module */
import { ChainError, CheckpointChangedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import type { Checkpoint, RouterCoverage } from '../indexer/chain-store.js'
import type { BlockRange, BlockRef } from '../ports/chain.js'
import type { Store, StoreTransaction } from '../ports/store.js'
import { dropOverdue } from './change-status.js'
import { chooseRecorded, type Recording } from './recording.js'
import { choosePrimary, matchOrdinals, storePayments } from './store-payments.js'

/** Locks a chain for this transaction. `ERR_CHECKPOINT_CHANGED` unless `expected` is stored; null: none is stored. */
export async function lockChainAt(
  tx: Pick<StoreTransaction, 'lockChain'>,
  chainId: number,
  expected: Checkpoint | null,
): Promise<void> {
  const stored = await tx.lockChain(chainId)
  if (stored?.blockNumber !== expected?.blockNumber || stored?.blockHash !== expected?.blockHash)
    throw new CheckpointChangedError(chainId)
}

/** The most stored heights that are compared with the chain; of older heights few are stored. */
const maxStoredHashes = 4_096

/** Rejects with `ERR_CHAIN_RANGE_GONE` when a stored hash of these heights differs. Call after `lockChain`. */
export async function assertKnownHashes(
  tx: Pick<StoreTransaction, 'checkpoints'>,
  chainId: number,
  { first, last, blocks }: BlockRange,
): Promise<void> {
  const hashes = new Map([...blocks, first, last].map(({ number, hash }) => [number, hash]))
  hashes.set(first.number - 1, first.parentHash)
  const limit = Math.min(maxStoredHashes, last.number - first.number + 2)
  for (const { blockNumber, blockHash } of await tx.checkpoints(chainId, last.number, limit)) {
    const readHash = hashes.get(blockNumber)
    if (readHash !== undefined && readHash !== blockHash)
      throw new ChainError(
        'ERR_CHAIN_RANGE_GONE',
        chainId,
        `Block ${blockNumber} of chain ${chainId} has another hash than the one that is indexed.`,
      )
  }
}

export interface RangeToRecord {
  readonly chainId: number
  /** The checkpoint below this range, as the indexer read it; null when the chain is new. */
  readonly expected: Checkpoint | null
  readonly range: BlockRange
  /** Height of the newest known block. */
  readonly head: number
  /** Blocks on top of a block until it is final; null where no block ever is. */
  readonly finalityBlocks: number | null
  readonly recording: Recording
}

/** Hashes are stored for at least this many blocks below the head, so that a reorg finds its exact ancestor. */
export const minStoredHashes = 256

/**
 * Records a range on top of the checkpoint `expected` in one transaction: payments with version 1, snapshot and outbox
 * row; waiting updates; deposits; the checkpoint; the proof. Blocks that are recorded again change only the chain facts
 * of a payment; a dropped payment gets its state back. Payments off the chain whose former height is now final are
 * dropped. Resolves the events to publish. Nothing is written when another checkpoint is stored.
 */
export async function recordRange(store: Pick<Store, 'transaction'>, input: RangeToRecord): Promise<ServiceEvent[]> {
  const { chainId, expected, range, finalityBlocks, recording } = input
  const { first, last, proof, node } = range
  assertContinues(expected, range)
  return store.transaction(async (tx) => {
    await lockChainAt(tx, chainId, expected)
    const { payments, deposits, events: skipped } = await chooseRecorded(tx, recording, { ...range, chainId })
    const events = await storePayments(tx, choosePrimary(payments))
    await tx.upsertDeposits(deposits)
    await tx.setCheckpoint(chainId, toCheckpoint(last), selectStoredHashes(input))
    await tx.addProof(chainId, { from: first.number, to: last.number, proof, node })
    // After the payments of the range are stored: a payment that is on the chain again is not overdue.
    const dropped = await dropOverdue(tx, { chainId, indexedTo: last.number, finalityBlocks })
    return [...events, ...skipped, ...dropped.events]
  })
}

function assertContinues(expected: Checkpoint | null, { first }: BlockRange): void {
  if (expected === null) return
  if (first.number === expected.blockNumber + 1 && first.parentHash === expected.blockHash) return
  throw new RangeError(
    `Block ${first.number} does not follow the checkpoint at ${expected.blockNumber}; ` +
      "pass the range above it, whose first block has the checkpoint's hash as its parent.",
  )
}

export const toCheckpoint = ({ number, hash }: BlockRef): Checkpoint => ({ blockNumber: number, blockHash: hash })

/** The blocks below the last one whose hashes are stored. */
export function selectStoredHashes({ range, head, finalityBlocks }: Omit<RangeToRecord, 'expected'>): Checkpoint[] {
  const lowest = head - Math.max(minStoredHashes, finalityBlocks ?? 0)
  return range.blocks.filter(({ number }) => number >= lowest && number < range.last.number).map(toCheckpoint)
}

/** `range`: read for the router of `coverage` alone. */
interface BackfillToRecord extends Omit<RangeToRecord, 'head' | 'finalityBlocks'> {
  readonly coverage: RouterCoverage
  /** The checkpoint for which the caller checked the coverage; above it another process may have read other routers. */
  readonly expected: Checkpoint | null
}

/**
 * Records a range below the checkpoint: payments, deposits, proof and coverage. A block keeps the weaker of its two
 * proofs. No payment takes the ordinal of another one. Nothing is written when the stored checkpoint is not `expected`
 * or is below the range, or when the range contradicts the stored hashes.
 */
export async function recordBackfill(
  store: Pick<Store, 'transaction'>,
  { chainId, range, coverage, expected, recording }: BackfillToRecord,
): Promise<readonly ServiceEvent[]> {
  const { first, last, proof, node } = range
  return store.transaction(async (tx) => {
    await lockChainAt(tx, chainId, expected)
    if (expected === null || expected.blockNumber < last.number) throw new CheckpointChangedError(chainId)
    await assertKnownHashes(tx, chainId, range)
    const { payments, deposits, events: skipped } = await chooseRecorded(tx, recording, { ...range, chainId })
    const stored = payments.length === 0 ? [] : await tx.paymentsInBlocks(chainId, first.number, last.number)
    const events = await storePayments(tx, matchOrdinals(payments, stored, [coverage.router]))
    await tx.upsertDeposits(deposits)
    await tx.addWeakerProof(chainId, { from: first.number, to: last.number, proof, node })
    await tx.setCoverage(chainId, coverage)
    return [...events, ...skipped]
  })
}
