/** Commits the payments of a run of blocks together with the checkpoint. Source: DESIGN section 2, flow 1. @module */
import { CheckpointMovedError } from '../errors.js'
import type { ServiceEvent } from '../events.js'
import type { BlockRange } from '../ports/chain.js'
import type { Store } from '../ports/store.js'
import type { Checkpoint, NewSnapshot, StoreTransaction } from '../ports/store-transaction.js'
import { decideUpdate, writeChange } from '../updates/settle-update.js'
import { markPrimary } from './primary.js'
import { initialStatus, type StoredPayment } from './record.js'
import { snapshotBytes } from './snapshot.js'

/** What to commit. */
export interface RangeToRecord {
  readonly chainId: number
  /** The checkpoint this range continues, as the indexer read it; null when the chain is new. */
  readonly expected: Checkpoint | null
  readonly range: BlockRange
}

/**
 * Records a range: payments, version 1 and its snapshot, kept updates that were waiting, outbox rows and the checkpoint in
 * one transaction. Recording blocks again changes only what the chain says of a payment, never its status.
 * @returns What happened, to be published after the commit.
 * @throws CheckpointMovedError `ERR_CHECKPOINT_MOVED` when the stored checkpoint is not `expected`.
 */
export async function recordRange(store: Pick<Store, 'transaction'>, input: RangeToRecord): Promise<ServiceEvent[]> {
  const { chainId, expected, range } = input
  return store.transaction(async (tx) => {
    const stored = await tx.lockChain(chainId)
    if (stored?.blockNumber !== expected?.blockNumber || stored?.blockHash !== expected?.blockHash)
      throw new CheckpointMovedError(chainId)
    const inserted = range.payments.length === 0 ? [] : await tx.upsertPayments(markPrimary(range.payments))
    const primary = inserted.filter((payment) => payment.primary)
    if (primary.length > 0) await tx.insertSnapshots(firstSnapshots(primary))
    const settled = await settleWaiting(tx, primary)
    await tx.setCheckpoint(chainId, { blockNumber: range.last.number, blockHash: range.last.hash })
    return [...inserted.map(indexedEvent), ...settled]
  })
}

function firstSnapshots(payments: readonly StoredPayment[]): NewSnapshot[] {
  return payments.flatMap(({ id, integrationAddress, chainId, txHash }) =>
    integrationAddress === null
      ? []
      : [
          {
            paymentId: id,
            version: initialStatus.version,
            body: snapshotBytes({ integrationAddress, chainId, txHash }, initialStatus),
            integrationAddress,
          },
        ],
  )
}

async function settleWaiting(tx: StoreTransaction, primary: readonly StoredPayment[]): Promise<ServiceEvent[]> {
  if (primary.length === 0) return []
  const events: ServiceEvent[] = []
  // One update may follow another on the same payment, so the newest status is looked up again for each.
  for (const waiting of await tx.waitingUpdates(primary.map(({ chainId, txHash }) => ({ chainId, txHash })))) {
    const { chainId, txHash } = waiting.update
    const decided = decideUpdate(await tx.paymentsForChange({ chainId: Number(chainId), txHash }), waiting.update)
    await tx.settleUpdate(waiting.update.id, decided.result)
    await writeChange(tx, decided.change)
    events.push(...decided.events)
  }
  return events
}

function indexedEvent(payment: StoredPayment): ServiceEvent {
  const { chainId, txHash, integrationAddress, blockNumber, ordinal, primary } = payment
  const name = { chainId, txHash, integrationAddress }
  return primary
    ? { type: 'payment.indexed', blockNumber, ...name }
    : { type: 'payment.additional', ordinal, blockNumber, ...name }
}
