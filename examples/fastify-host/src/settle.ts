/** One business fact, one transaction: the host's order and the payment's state. @module */
import type { Service } from '@payment-integration/core'
import { joinPostgresTransaction } from '@payment-integration/store-sql/postgres'
import type { Pool } from 'pg'
import { inTransaction } from './in-transaction.js'
import { settleOrder } from './orders.js'

/** What the host learned about an order. */
export interface Settlement {
  readonly orderId: string
  /** What arrived, in dollars, as a decimal. */
  readonly amount: string
  readonly merchant: string
}

/** The payment did not take the settlement: `reason` says why. Fastify answers `statusCode`, 409. */
export class NotSettledError extends Error {
  override readonly name = 'NotSettledError'
  readonly code = 'ERR_NOT_SETTLED'
  readonly statusCode = 409
  constructor(orderId: string, reason: string) {
    super(`Order ${orderId} is not settled: ${reason}.`)
  }
}

/**
 * Settles an order and tells the integration, both or neither: the order's row, the payment's new version, its snapshot
 * and the delivery are in one commit. Resolves whether the order was there to settle.
 *
 * @throws {NotSettledError} `ERR_NOT_SETTLED` when the payment is not indexed yet, or its state does not allow it;
 * nothing is kept, and the order may be settled again.
 */
export async function settle(
  pool: Pool,
  service: Service,
  { orderId, amount, merchant }: Settlement,
): Promise<boolean> {
  const joined = await inTransaction(pool, async (client) => {
    const order = await settleOrder(client, orderId, amount)
    if (order === null) return null
    const { chainId, txHash, integrationAddress } = order
    const update = await service.applyUpdateIn(joinPostgresTransaction(client), {
      id: `settled-${orderId}`,
      chainId,
      txHash,
      integrationAddress,
      state: 'success',
      recipient: { title: merchant, subtitle: null },
    })
    // Thrown inside the transaction, so that the order goes back as well.
    const { outcome, reason } = update.result
    if (outcome === 'refused') throw new NotSettledError(orderId, reason ?? outcome)
    if (outcome === 'waiting') throw new NotSettledError(orderId, 'its payment is not indexed yet')
    return update
  })
  joined?.committed()
  return joined !== null
}
