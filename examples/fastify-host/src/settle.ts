/** One business fact, one transaction: the host's order and the payment's state. @module */
import type { Service } from '@payment-integration/core'
import { joinPostgresTransaction } from '@payment-integration/store-sql'
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

/**
 * Settles an order and tells the integration, both or neither: the order's row, the payment's new version, its snapshot and the delivery
 * are in one commit. Resolves whether the order was there to settle.
 */
export async function settle(
  pool: Pool,
  service: Service,
  { orderId, amount, merchant }: Settlement,
): Promise<boolean> {
  const joined = await inTransaction(pool, async (client) => {
    const order = await settleOrder(client, orderId, amount)
    if (order === null) return null
    return service.applyUpdateIn(joinPostgresTransaction(client), {
      id: `settled-${order.id}`,
      chainId: order.chainId,
      txHash: order.txHash,
      state: 'success',
      recipient: { title: merchant, subtitle: null },
    })
  })
  joined?.committed()
  return joined !== null
}
