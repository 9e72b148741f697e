/**
 * Commits the payment of a fulfilled deposit. Source: docs/decisions/version.md,
 * docs/decisions/several-payments-in-one-transaction.md.
 * @module
 */
import type { ServiceEvent } from '../events.js'
import { storePayments } from '../payments/store-payments.js'
import type { Fulfilment } from '../ports/fulfilment.js'
import type { Store } from '../ports/store.js'
import type { WaitingDeposit } from '../ports/store-chains.js'
import { besideShown, fulfilledPayment } from './fulfilled-payment.js'

/** A fulfilment to commit. */
export interface FulfilmentToRecord {
  readonly waiting: WaitingDeposit
  readonly fulfilment: Fulfilment
  /** Whether the destination chain is indexed here as well. */
  readonly isFollowed: boolean
}

/**
 * Settles a deposit and records its payment in one transaction: version 1, its snapshot, waiting updates, outbox row.
 * It is idempotent, also after a kill. On an indexed destination the indexer comes first: it may find a payment of a
 * router in the same transaction, and only one of the two is primary.
 *
 * @returns Events to publish after the commit. Null when nothing was written: the deposit no longer waits, or the
 * destination is not indexed that far, or is indexed on another branch.
 */
export async function recordFulfilment(
  store: Pick<Store, 'transaction'>,
  { waiting, fulfilment, isFollowed }: FulfilmentToRecord,
): Promise<ServiceEvent[] | null> {
  const { chainId, txHash, blockNumber } = fulfilment
  return store.transaction(async (tx) => {
    const checkpoint = await tx.lockChain(chainId)
    if (isFollowed && (checkpoint === null || checkpoint.blockNumber < blockNumber)) return null
    // The source's node may still be on a branch that the indexer has left.
    const [known] = isFollowed ? await tx.checkpoints(chainId, blockNumber, 1) : []
    if (known?.blockNumber === blockNumber && known.blockHash !== fulfilment.blockHash) return null
    if (!(await tx.settleDeposit(waiting.id))) return null
    const shown = await tx.paymentsForChange({ chainId, txHash })
    const facts = besideShown(fulfilledPayment(waiting.deposit, fulfilment), shown)
    const primary = shown.every(({ integrationAddress }) => integrationAddress !== facts.integrationAddress)
    return storePayments(tx, [{ facts, primary }])
  })
}
