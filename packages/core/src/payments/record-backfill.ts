/**
 * Commits payments of a router in blocks indexed before the router was listed. Source: docs/architecture.md.
 * @module
 */
import { CheckpointMovedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { assertKnownHashes } from '../indexer/assert-known-hashes.js'
import type { BlockRange } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { RouterCoverage } from '../ports/store-chains.js'
import { assignOrdinals } from './assign-ordinals.js'
import { chooseRecorded, type Recording } from './recording.js'
import { storePayments } from './store-payments.js'

/** A range to commit. */
export interface BackfillToRecord {
  readonly chainId: number
  /** Read for the router of `coverage` alone. */
  readonly range: BlockRange
  /** The new coverage of the router. */
  readonly coverage: RouterCoverage
  /** @default 'all' */
  readonly recording?: Recording | undefined
}

/**
 * Records a range below the checkpoint in one transaction: payments, deposits, proof and coverage. A block keeps the
 * weaker of its two proofs. The checkpoint does not move. A payment never takes the ordinal of another payment of its
 * transaction.
 *
 * @returns Events to publish after the commit.
 *
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the checkpoint is below the range: nothing was written.
 *
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when the range is not on the stored branch: nothing was written.
 */
export async function recordBackfill(
  store: Pick<Store, 'transaction'>,
  { chainId, range, coverage, recording = 'all' }: BackfillToRecord,
): Promise<readonly ServiceEvent[]> {
  const { first, last, proof, endpoint } = range
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
    await tx.addWeakerProof(chainId, { from: first.number, to: last.number, proof, endpoint })
    await tx.setCoverage(chainId, coverage)
    return [...events, ...skipped]
  })
}
