/** The host's own table. @module */
import type { ClientBase } from 'pg'

/** An order of the host. */
export interface Order {
  readonly id: string
  readonly txHash: string
  readonly chainId: string
  /** The integration of its payment. A transaction may hold payments of several. */
  readonly integrationAddress: string
}

/** Makes the table. */
export const ordersTable = `create table if not exists orders (
  id text primary key, tx_hash text not null, chain_id text not null, integration_address text not null,
  settled_at timestamptz, settled_amount text)`

/** Stores an order with the transaction that pays it. */
export async function addOrder(client: Pick<ClientBase, 'query'>, order: Order): Promise<void> {
  const { id, txHash, chainId, integrationAddress } = order
  await client.query('insert into orders (id, tx_hash, chain_id, integration_address) values ($1, $2, $3, $4)', [
    id,
    txHash,
    chainId,
    integrationAddress,
  ])
}

/** Settles an order once. Null for an unknown or settled order. */
export async function settleOrder(client: ClientBase, id: string, amount: string): Promise<Order | null> {
  const { rows } = await client.query<Order>(
    `update orders set settled_at = now(), settled_amount = $2 where id = $1 and settled_at is null
     returning id, tx_hash as "txHash", chain_id as "chainId", integration_address as "integrationAddress"`,
    [id, amount],
  )
  return rows[0] ?? null
}
