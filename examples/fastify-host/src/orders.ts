/** The host's own table. @module */
import type { ClientBase } from 'pg'

/** An order as the host knows it. */
export interface Order {
  readonly id: string
  readonly txHash: string
  readonly chainId: string
}

/** Makes the table. */
export const ordersTable = `create table if not exists orders (
  id text primary key, tx_hash text not null, chain_id text not null, settled_at timestamptz, settled_amount text)`

/** Notes that an order is to be paid by a transaction. */
export async function addOrder(client: Pick<ClientBase, 'query'>, { id, txHash, chainId }: Order): Promise<void> {
  await client.query('insert into orders (id, tx_hash, chain_id) values ($1, $2, $3)', [id, txHash, chainId])
}

/** Settles an order once. Null for one that does not exist or was settled before. */
export async function settleOrder(client: ClientBase, id: string, amount: string): Promise<Order | null> {
  const { rows } = await client.query<{ tx_hash: string; chain_id: string }>(
    `update orders set settled_at = now(), settled_amount = $2 where id = $1 and settled_at is null
     returning tx_hash, chain_id`,
    [id, amount],
  )
  const [row] = rows
  return row === undefined ? null : { id, txHash: row.tx_hash, chainId: row.chain_id }
}
