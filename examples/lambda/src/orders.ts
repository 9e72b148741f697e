/** The shop's orders, in the PostgreSQL that holds the versions too. @module */
import type { Snapshot } from '@payment-integration/webhook'
import type { ClientBase } from 'pg'

/** The shop's table. An order waits for one payment, which its checkout noted. */
export const ordersTable = `create table if not exists orders (
  id text primary key, chain_id text not null, tx_hash text not null, state text, unique (chain_id, tx_hash))`

/** The order is not known yet: the delivery came before the checkout noted it, and the service sends again. */
export class OrderUnknownError extends Error {
  override readonly name = 'OrderUnknownError'
}

/**
 * Moves an order to the state of its payment, inside the transaction of the version store.
 * @throws {OrderUnknownError} When there is no such order: the version is not taken.
 */
export async function moveOrder(tx: ClientBase, { chainId, txHash, state }: Snapshot): Promise<void> {
  const { rowCount } = await tx.query('update orders set state = $3 where chain_id = $1 and tx_hash = $2', [
    chainId,
    txHash,
    state,
  ])
  if (rowCount === 0) throw new OrderUnknownError(`There is no order for ${txHash} on chain ${chainId}.`)
}
