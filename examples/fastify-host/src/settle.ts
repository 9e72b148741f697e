/** Settles an order and updates its payment in one transaction. @module */
import type { Service } from '@payment-integration/core'
import { joinPostgresTransaction } from '@payment-integration/store-sql/postgres'
import type { Pool } from 'pg'
import { inTransaction } from './in-transaction.js'
import { settleOrder } from './orders.js'

/** The settlement of an order. */
export interface Settlement {
  readonly orderId: string
  /** The received amount in dollars, as a decimal. */
  readonly amount: string
  readonly merchant: string
}

/** The payment rejected the settlement for `reason`. Fastify answers `statusCode`, 409. */
export class NotSettledError extends Error {
  override readonly name = 'NotSettledError'
  readonly code = 'ERR_NOT_SETTLED'
  readonly statusCode = 409
  constructor(orderId: string, reason: string) {
    super(`Order ${orderId} is not settled: ${reason}.`)
  }
}

/**
 * Settles an order and notifies the integration atomically: the order's row, the payment's new version, its snapshot
 * and the delivery are in one commit. Resolves whether there was an order to settle.
 *
 * @throws {NotSettledError} `ERR_NOT_SETTLED` when the payment is not indexed yet, or its state does not allow it;
 * the transaction is rolled back, and the order may be settled again.
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
    // Throwing inside the transaction rolls the order back too.
    const { outcome, reason } = update.result
    if (outcome === 'rejected') throw new NotSettledError(orderId, reason ?? outcome)
    if (outcome === 'waiting') throw new NotSettledError(orderId, 'its payment is not indexed yet')
    return update
  })
  joined?.committed()
  return joined !== null
}
