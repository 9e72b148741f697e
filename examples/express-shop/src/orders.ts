/** The shop's orders and its payments, in the PostgreSQL database that also holds the versions. @module */
import { compareAmounts, parseAmount } from '@payment-integration/client/amounts'
import type { Snapshot } from '@payment-integration/webhook'
import type { ClientBase } from 'pg'

/** An order. */
export interface Order {
  readonly id: string
  readonly price: string
  readonly currency: string
  /** The time at which the goods were released, once and for good. */
  readonly releasedAt: string | null
  /** The payments whose memo is the order's id. */
  readonly payments: readonly { readonly txHash: string; readonly state: string | null }[]
}

/** The chain and transaction of a payment. */
export type PaymentKey = Pick<Snapshot, 'chainId' | 'txHash'>

/**
 * The shop's tables. `payments` has the newest version of every payment that names us, even without an order.
 */
export const shopTables = `
create table if not exists orders (id text primary key, price text not null, currency text not null, released_at timestamptz,
  released_by text);
create table if not exists payments (
  chain_id text not null, tx_hash text not null, order_id text references orders, state text, amount text, currency text,
  primary key (chain_id, tx_hash));
create table if not exists reconcile_checkpoint (one boolean primary key default true check (one), checkpoint jsonb not null)`

type Database = Pick<ClientBase, 'query'>
type Report = (line: string) => void

/** Stores an order. The invoice of its payment must have exactly this price. */
export async function addOrder(db: Database, order: Pick<Order, 'id' | 'price' | 'currency'>): Promise<void> {
  const { id, price, currency } = order
  await db.query('insert into orders (id, price, currency) values ($1, $2, $3)', [id, price, currency])
}

/** An order, or null. */
export async function findOrder(db: Database, id: string): Promise<Order | null> {
  const { rows } = await db.query<Order>(
    `select id, price, currency, released_at as "releasedAt",
       (select coalesce(json_agg(json_build_object('txHash', tx_hash, 'state', state)), '[]') from payments where order_id = orders.id) as payments
     from orders where id = $1`,
    [id],
  )
  return rows[0] ?? null
}

/**
 * Stores a new version of a payment, and releases the goods if it pays an order. Runs in the transaction that records
 * the version. A payment without an order is only stored: its order may follow, or a foreign payment may name our
 * address.
 */
export async function applySnapshot(tx: Database, snapshot: Snapshot, report: Report): Promise<void> {
  const { chainId, txHash, state, invoice } = snapshot
  await tx.query(
    `insert into payments (chain_id, tx_hash, state, amount, currency) values ($1, $2, $3, $4, $5)
     on conflict (chain_id, tx_hash) do update set state = excluded.state, amount = excluded.amount, currency = excluded.currency`,
    [chainId, txHash, state, invoice?.amount ?? null, invoice?.currency ?? null],
  )
  if (state === 'failure') await reportRevoked(tx, snapshot, report)
  await releaseIfPaid(tx, snapshot, report)
}

/** Reports a released order whose payment became a failure, as a reorg may cause. A person must act. */
async function reportRevoked(tx: Database, { chainId, txHash }: PaymentKey, report: Report): Promise<void> {
  const { rows } = await tx.query<{ id: string }>('select id from orders where released_by = $1', [
    `${chainId}:${txHash}`,
  ])
  for (const { id } of rows) report(`order ${id} was released, and its payment ${txHash} is a failure now`)
}

/**
 * Stores which order a payment pays, and releases the goods if it is paid already. Runs in a transaction. This and
 * {@link applySnapshot} both lock the payment's row; the later one waits and then sees both changes.
 */
export async function attachToOrder(tx: Database, orderId: string, payment: PaymentKey, report: Report): Promise<void> {
  await tx.query(
    `insert into payments (chain_id, tx_hash, order_id) values ($1, $2, $3)
     on conflict (chain_id, tx_hash) do update set order_id = excluded.order_id`,
    [payment.chainId, payment.txHash, orderId],
  )
  await releaseIfPaid(tx, payment, report)
}

/** A delivery proves no sale: only a success with the exact price releases the goods. */
async function releaseIfPaid(tx: Database, { chainId, txHash }: PaymentKey, report: Report): Promise<void> {
  const { rows } = await tx.query<{
    id: string
    price: string
    dueCurrency: string
    amount: string | null
    paidCurrency: string | null
  }>(
    `select id, price, orders.currency as "dueCurrency", amount, payments.currency as "paidCurrency" from payments join orders on orders.id = order_id
     where chain_id = $1 and tx_hash = $2 and state = 'success' and released_at is null`,
    [chainId, txHash],
  )
  const [order] = rows
  if (order === undefined) return
  const { id, price, dueCurrency, amount, paidCurrency } = order
  if (amount !== null && paidCurrency === dueCurrency && compareAmounts(parseAmount(amount), parseAmount(price)) === 0)
    await tx.query('update orders set released_at = now(), released_by = $2 where id = $1 and released_at is null', [
      id,
      `${chainId}:${txHash}`,
    ])
  else
    report(
      `order ${id} costs ${price} ${dueCurrency}; payment ${txHash} is a success over ${amount ?? 'no amount'} ${paidCurrency ?? ''}`,
    )
}
