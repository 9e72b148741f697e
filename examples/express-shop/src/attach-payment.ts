/** Attaches a payment to the order that its memo names. @module */
import { type Client, isClientError } from '@payment-integration/client'
import type { Pool } from 'pg'
import { inTransaction } from './in-transaction.js'
import { attachToOrder, findOrder } from './orders.js'

/** Dependencies of {@link attachPayment}. */
export interface AttachParts {
  readonly client: Pick<Client, 'payments'>
  readonly pool: Pool
  /** The shop's own address, to which its payments go, lowercased. */
  readonly receiver: string
  readonly report: (line: string) => void
}

/**
 * `unknown`: no such order, or the service has not indexed the payment yet. `rejected`: the payment is for another
 * order or another receiver.
 */
export type Attached = 'attached' | 'unknown' | 'rejected'

/**
 * Attaches a payment to an order, idempotently. A transaction is public, so its hash proves nothing: the memo must be
 * the order's id, and the receiver the shop.
 */
export async function attachPayment(parts: AttachParts, orderId: string, txHash: string): Promise<Attached> {
  const { client, pool, receiver, report } = parts
  if ((await findOrder(pool, orderId)) === null) return 'unknown'
  const payment = await client.payments.get(txHash).catch((error: unknown) => {
    if (isClientError(error) && error.code === 'ERR_PAYMENT_NOT_FOUND') return null
    throw error
  })
  if (payment === null) return 'unknown'
  if (payment.memo !== orderId || payment.receiver !== receiver) return 'rejected'
  await inTransaction(pool, (tx) => attachToOrder(tx, orderId, payment, report))
  return 'attached'
}
