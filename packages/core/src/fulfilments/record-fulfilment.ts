/**
 * Commits the payment that a fulfilled deposit is. Source: docs/decisions/version.md,
 * docs/decisions/several-payments-in-one-transaction.md.
 * @module
 */
import type { ServiceEvent } from '../events.js'
import { storePayments } from '../payments/store-payments.js'
import type { Fulfilment } from '../ports/fulfilment.js'
import type { Store } from '../ports/store.js'
import type { WaitingDeposit } from '../ports/store-chains.js'
import { besideShown, fulfilledPayment } from './fulfilled-payment.js'

/** What to commit. */
export interface FulfilmentToRecord {
  readonly waiting: WaitingDeposit
  readonly fulfilment: Fulfilment
  /** Whether the destination chain is indexed here as well. */
  readonly isFollowed: boolean
}

/**
 * Ends the wait of a deposit and records its payment in one transaction: version 1, its snapshot, kept updates that
 * were waiting, outbox row. Whatever runs it again, at once or after a kill, changes nothing more. Where the
 * destination is followed, its indexer comes first: a payment of a router in the same transaction is known by then, so
 * that only one of them is shown.
 *
 * @returns What happened, to be published after the commit; null when nothing was written, because the deposit no
 * longer waits or the indexer of the destination is not there yet, or on another branch.
 */
export async function recordFulfilment(
  store: Pick<Store, 'transaction'>,
  { waiting, fulfilment, isFollowed }: FulfilmentToRecord,
): Promise<ServiceEvent[] | null> {
  const { chainId, txHash, blockNumber } = fulfilment
  return store.transaction(async (tx) => {
    const checkpoint = await tx.lockChain(chainId)
    if (isFollowed && (checkpoint === null || checkpoint.blockNumber < blockNumber)) return null
    // The node that it came from may still be on a branch that the indexer has left.
    const [known] = isFollowed ? await tx.checkpoints(chainId, blockNumber, 1) : []
    if (known?.blockNumber === blockNumber && known.blockHash !== fulfilment.blockHash) return null
    if (!(await tx.settleDeposit(waiting.id))) return null
    const shown = await tx.paymentsForChange({ chainId, txHash })
    const facts = besideShown(fulfilledPayment(waiting.deposit, fulfilment), shown)
    const primary = shown.every(({ integrationAddress }) => integrationAddress !== facts.integrationAddress)
    return storePayments(tx, [{ facts, primary }])
  })
}
