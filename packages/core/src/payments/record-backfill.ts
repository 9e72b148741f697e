/**
 * Commits the payments of one router in blocks that were indexed before it was listed. Source: docs/architecture.md.
 * @module
 */
import { CheckpointMovedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import { assertKnownHashes } from '../indexer/assert-known-hashes.js'
import type { BlockRange } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { RouterCoverage } from '../ports/store-chains.js'
import { assignOrdinals } from './assign-ordinals.js'
import { storePayments } from './store-payments.js'

/** What to commit. */
export interface BackfillToRecord {
  readonly chainId: number
  /** What was read for the router of `coverage` alone. */
  readonly range: BlockRange
  /** What to note of the router now. */
  readonly coverage: RouterCoverage
}

/**
 * Records a range below the checkpoint in one transaction: payments as they are recorded at the head, deposits, the
 * proof where it is weaker than the one that is noted of a block, and the coverage. The checkpoint does not move. A
 * payment takes no place of another one that the same transaction holds.
 *
 * @returns What happened, to be published after the commit.
 *
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the checkpoint is below the range: nothing was written.
 *
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when the range is not of the branch that is stored: nothing was written.
 */
export async function recordBackfill(
  store: Pick<Store, 'transaction'>,
  { chainId, range, coverage }: BackfillToRecord,
): Promise<readonly ServiceEvent[]> {
  const { first, last, payments, deposits, proof, endpoint } = range
  return store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored === null || stored.blockNumber < last.number) throw new CheckpointMovedError(chainId)
    await assertKnownHashes(tx, chainId, range)
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
    return events
  })
}
