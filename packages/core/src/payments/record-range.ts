/**
 * Commits the payments of a range of blocks with the checkpoint, and chooses which are recorded.
 * Source: docs/architecture.md, docs/decisions/cells.md.
 * @module
 */
import { ChainError, CheckpointMovedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import type { ChainReads, Checkpoint, RouterCoverage } from '../indexer/chain-store.js'
import type { UnrecordedRange } from '../integrations/integration.js'
import type { BlockRange, BridgeDeposit } from '../ports/chain.js'
import type { Store, StoreTransaction } from '../ports/store.js'

import type { PaymentFacts } from './payment.js'
import { dropOverdue } from './state.js'
import { assignOrdinals, choosePrimary, storePayments } from './store-payments.js'

/** The most stored heights that are compared with a range; of older heights few are stored. */
const maxHeights = 4_096

/** Rejects with `ERR_CHAIN_RANGE_GONE` when a stored hash of these heights differs. Call after `lockChain`. */
export async function assertKnownHashes(
  tx: Pick<StoreTransaction, 'checkpoints'>,
  chainId: number,
  { first, last, blocks }: BlockRange,
): Promise<void> {
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]))
  hashes
    .set(first.number, first.hash)
    .set(first.number - 1, first.parentHash)
    .set(last.number, last.hash)
  const limit = Math.min(maxHeights, last.number - first.number + 2)
  for (const { blockNumber, blockHash } of await tx.checkpoints(chainId, last.number, limit)) {
    const read = hashes.get(blockNumber)
    if (read !== undefined && read !== blockHash)
      throw new ChainError(
        'ERR_CHAIN_RANGE_GONE',
        chainId,
        `Block ${blockNumber} of chain ${chainId} has another hash than the one that is indexed.`,
      )
  }
}

export interface HeadWindow {
  /** Height of the newest known block. */
  readonly head: number
  /** Blocks on top of a block until it is final; null where no block ever is. */
  readonly finalityBlocks: number | null
}

interface RangeToRecord {
  readonly chainId: number
  /** The checkpoint below this range, as the indexer read it; null when the chain is new. */
  readonly expected: Checkpoint | null
  readonly range: BlockRange
  readonly window: HeadWindow
  /** @default 'all' */
  readonly recording?: Recording | undefined
}

/**
 * Hashes are stored for at least this many blocks below the head, so that a reorganization finds its exact ancestor.
 */
export const minStoredHashes = 256

/**
 * Records a range in one transaction: payments with version 1, snapshot and outbox row; waiting updates; deposits; the
 * checkpoint; the proof. Blocks that are recorded again change only the chain facts of a payment; a dropped payment
 * gets its state back. Payments off the chain whose former height is now final are dropped. Resolves the events to
 * publish. Nothing is written when the stored checkpoint is not `expected`, on top of which the range must begin.
 */
export async function recordRange(
  store: Pick<Store, 'transaction'>,
  input: RangeToRecord,
): Promise<readonly ServiceEvent[]> {
  const { chainId, expected, range, window, recording = 'all' } = input
  const { first, last, proof, node } = range
  assertContinues(expected, range)
  const below = selectStoredHashes(range, window)
  return store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== expected?.blockNumber || stored?.blockHash !== expected?.blockHash)
      throw new CheckpointMovedError(chainId)
    const { payments, deposits, events: skipped } = await chooseRecorded(tx, recording, { ...range, chainId })
    const events = payments.length === 0 ? [] : await storePayments(tx, choosePrimary(payments))
    if (deposits.length > 0) await tx.upsertDeposits(deposits)
    await tx.setCheckpoint(chainId, { blockNumber: last.number, blockHash: last.hash }, below)
    await tx.addProof(chainId, { from: first.number, to: last.number, proof, node })
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

function selectStoredHashes({ blocks, last }: BlockRange, { head, finalityBlocks }: HeadWindow): Checkpoint[] {
  const lowest = head - Math.max(minStoredHashes, finalityBlocks ?? 0)
  return blocks
    .filter(({ number }) => number >= lowest && number < last.number)
    .map(({ number, hash }) => ({ blockNumber: number, blockHash: hash }))
}

interface BackfillToRecord {
  readonly chainId: number
  /** Read for the router of `coverage` alone. */
  readonly range: BlockRange
  readonly coverage: RouterCoverage
  /** @default 'all' */
  readonly recording?: Recording | undefined
}

/**
 * Records a range below the checkpoint: payments, deposits, proof and coverage. A block keeps the weaker of its two
 * proofs. No payment takes the ordinal of another one. Nothing is written when the checkpoint is below the range, or
 * the range is not on the stored branch.
 */
export async function recordBackfill(
  store: Pick<Store, 'transaction'>,
  { chainId, range, coverage, recording = 'all' }: BackfillToRecord,
): Promise<readonly ServiceEvent[]> {
  const { first, last, proof, node } = range
  return store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored === null || stored.blockNumber < last.number) throw new CheckpointMovedError(chainId)
    await assertKnownHashes(tx, chainId, range)
    const { payments, deposits, events: skipped } = await chooseRecorded(tx, recording, { ...range, chainId })
    const events =
      payments.length === 0
        ? []
        : await storePayments(
            tx,
            assignOrdinals(payments, await tx.paymentsInBlocks(chainId, first.number, last.number), [coverage.router]),
          )
    if (deposits.length > 0) await tx.upsertDeposits(deposits)
    await tx.addWeakerProof(chainId, { from: first.number, to: last.number, proof, node })
    await tx.setCoverage(chainId, coverage)
    return [...events, ...skipped]
  })
}

/** Which payments a service records: all, or only those that name an integration of its store. */
export type Recording = 'all' | 'own'

export interface RecordedPart {
  readonly payments: readonly PaymentFacts[]
  readonly deposits: readonly BridgeDeposit[]
  readonly events: readonly ServiceEvent[]
}

type NamedPayment = Pick<PaymentFacts, 'txHash' | 'integrationAddress'>

const toPaymentKey = ({ txHash, integrationAddress }: NamedPayment) => `${txHash}:${integrationAddress}`

/**
 * Chooses payments and deposits that name an integration of the store, and stored payments that are off the chain. Call
 * after `lockChain`: an integration registers while no chain is locked, so all its later payments are chosen. `stored`:
 * payments that the caller knows to be stored.
 */
export async function chooseRecorded(
  tx: Pick<StoreTransaction, 'registeredIntegrations' | 'offChainPayments'>,
  recording: Recording,
  { chainId, payments, deposits }: { readonly chainId: number } & Pick<BlockRange, 'payments' | 'deposits'>,
  stored: readonly NamedPayment[] = [],
): Promise<RecordedPart> {
  if (recording === 'all' || payments.length + deposits.length === 0) return { payments, deposits, events: [] }
  const named = new Set<string>()
  for (const { integrationAddress } of payments) if (integrationAddress !== null) named.add(integrationAddress)
  for (const { payment } of deposits) if (payment.integrationAddress !== null) named.add(payment.integrationAddress)
  const own = named.size === 0 ? named : await tx.registeredIntegrations([...named])
  const isOwn = ({ integrationAddress }: PaymentFacts) => integrationAddress !== null && own.has(integrationAddress)
  const storedPayments = payments.every(isOwn) ? [] : [...stored, ...(await tx.offChainPayments(chainId))]
  const keys = new Set(storedPayments.map(toPaymentKey))
  const chosen = {
    payments: payments.filter((each) => isOwn(each) || (keys.size > 0 && keys.has(toPaymentKey(each)))),
    deposits: deposits.filter(({ payment }) => isOwn(payment)),
  }
  const count = payments.length + deposits.length - chosen.payments.length - chosen.deposits.length
  return { ...chosen, events: count === 0 ? [] : [{ type: 'payments.skipped', chainId, count }] }
}

/**
 * Locks every chain, so that an integration registers between two ranges. Resolves the checkpoints by chain: blocks
 * above them are recorded with the integration.
 */
export async function lockRecording(
  tx: Pick<StoreTransaction, 'indexedChains' | 'shareChain' | 'checkpoints'>,
  followed: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const recordedTo = new Map<number, number>()
  const chainIds = new Set([...followed, ...(await tx.indexedChains())])
  for (const chainId of [...chainIds].sort((a, b) => a - b)) {
    await tx.shareChain(chainId)
    const [checkpoint] = await tx.checkpoints(chainId, Number.MAX_SAFE_INTEGER, 1)
    if (checkpoint !== undefined) recordedTo.set(chainId, checkpoint.blockNumber)
  }
  return recordedTo
}

/**
 * The blocks to read again for an integration. `firstBlocks`: the first block of its payments by chain; default: the
 * first indexed block.
 */
export async function unrecordedRanges(
  chains: Pick<ChainReads, 'coverage'>,
  recordedTo: ReadonlyMap<number, number>,
  firstBlocks: ReadonlyMap<number, number> = new Map(),
): Promise<UnrecordedRange[]> {
  const ranges: UnrecordedRange[] = []
  for (const [chainId, to] of recordedTo) {
    const coverage = await chains.coverage(chainId)
    const from = firstBlocks.get(chainId) ?? Math.min(to, ...coverage.map((each) => each.from))
    if (from <= to) ranges.push({ chainId, from, to })
  }
  return ranges
}
