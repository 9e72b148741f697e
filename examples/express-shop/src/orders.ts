/** The shop's orders, in the PostgreSQL that holds the versions too. @module */
import type { Snapshot } from '@payment-integration/webhook'
import type { ClientBase } from 'pg'

/** An order. */
export interface Order {
  readonly id: string
  readonly price: string
  readonly currency: string
  /** The state of its payment, or null before there is one. */
  readonly state: string | null
  /** When the goods were released: once. */
  readonly releasedAt: string | null
}

/** The shop's tables. */
export const shopTables = `
create table if not exists orders (
  id text primary key, price text not null, currency text not null, chain_id text, tx_hash text, state text, released_at timestamptz,
  unique (chain_id, tx_hash));
create table if not exists reconcile_checkpoint (one boolean primary key default true check (one), checkpoint jsonb not null)`

type Database = Pick<ClientBase, 'query'>

/** Notes an order. The price is what the invoice of its payment must say. */
export async function addOrder(db: Database, order: Pick<Order, 'id' | 'price' | 'currency'>): Promise<void> {
  await db.query('insert into orders (id, price, currency) values ($1, $2, $3)', [
    order.id,
    order.price,
    order.currency,
  ])
}

/** Notes which transaction pays an order: the checkout learns it from the wallet. */
export async function attachPayment(db: Database, id: string, chainId: string, txHash: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'update orders set chain_id = $2, tx_hash = $3 where id = $1 and tx_hash is null',
    [id, chainId, txHash.toLowerCase()],
  )
  return rowCount === 1
}

/** An order, or null. */
export async function findOrder(db: Database, id: string): Promise<Order | null> {
  const { rows } = await db.query<Order>(
    'select id, price, currency, state, released_at as "releasedAt" from orders where id = $1',
    [id],
  )
  return rows[0] ?? null
}

/**
 * What a new version of a payment means to the shop. Runs in the transaction that records the version. A payment that belongs to no order of
 * ours is left alone: whoever builds a payment may write our address into it.
 */
export async function applySnapshot(tx: Database, snapshot: Snapshot): Promise<void> {
  const { chainId, txHash, state, invoice } = snapshot
  const { rows } = await tx.query<Pick<Order, 'id' | 'price' | 'currency'>>(
    'update orders set state = $3 where chain_id = $1 and tx_hash = $2 returning id, price, currency',
    [chainId, txHash, state],
  )
  const [order] = rows
  if (order === undefined || state !== 'success') return
  // A delivery is a claim, not a sale: release only for the price that we asked.
  if (invoice?.amount !== order.price || invoice.currency !== order.currency) return
  await tx.query('update orders set released_at = now() where id = $1 and released_at is null', [order.id])
}
