/** The shop's orders and its payments, in the PostgreSQL database that also holds the versions. @module */
import { compareAmounts, parseAmount } from '@payment-integration/client/amounts'
import type { Snapshot } from '@payment-integration/webhook'
import type { ClientBase } from 'pg'

/**
 * The shop's tables. `payments` has the newest version of every payment that names us, even without an order.
 */
export const shopTables = `
create table if not exists orders (id text primary key, price text not null, currency text not null, paid_at timestamptz);
create table if not exists payments (
  chain_id text not null, tx_hash text not null, order_id text unique references orders, state text, amount text, currency text,
  primary key (chain_id, tx_hash))`

/** An order and its payment. */
export interface Order {
  readonly id: string
  /** A decimal, as text: `12.50`. */
  readonly price: string
  readonly currency: string
  readonly chainId: string
  readonly txHash: string
}

type PaymentKey = Pick<Snapshot, 'chainId' | 'txHash'>
type Report = (line: string) => void

/**
 * Stores a new version of a payment, and marks its order as paid if it pays one. Runs in the transaction of the version
 * store. A payment without an order is only stored: its order may follow, or a foreign payment may name our address.
 */
export async function applySnapshot(tx: ClientBase, snapshot: Snapshot, report: Report): Promise<void> {
  const { chainId, txHash, state, invoice } = snapshot
  await tx.query(
    `insert into payments (chain_id, tx_hash, state, amount, currency) values ($1, $2, $3, $4, $5)
     on conflict (chain_id, tx_hash) do update set state = excluded.state, amount = excluded.amount, currency = excluded.currency`,
    [chainId, txHash, state, invoice?.amount ?? null, invoice?.currency ?? null],
  )
  await markIfPaid(tx, snapshot, report)
}

/**
 * Stores an order with its payment. The checkout calls it in a transaction of its own, before or after the payment's
 * first delivery. A transaction's hash is public. So the checkout first reads the payment with `client.payments.get`
 * and compares memo and receiver.
 *
 * @throws {Error} When the order exists already, or the payment belongs to another one.
 */
export async function noteOrder(tx: ClientBase, order: Order, report: Report): Promise<void> {
  const { id, price, currency, chainId } = order
  const txHash = order.txHash.toLowerCase()
  await tx.query('insert into orders (id, price, currency) values ($1, $2, $3)', [id, parseAmount(price), currency])
  const { rowCount } = await tx.query(
    `insert into payments (chain_id, tx_hash, order_id) values ($1, $2, $3)
     on conflict (chain_id, tx_hash) do update set order_id = excluded.order_id where payments.order_id is null`,
    [chainId, txHash, id],
  )
  if (rowCount === 0) throw new Error(`Payment ${txHash} on chain ${chainId} belongs to another order.`)
  await markIfPaid(tx, { chainId, txHash }, report)
}

/**
 * An order is paid by a success with its exact price. The row of the payment is locked: of two concurrent calls, the
 * later one sees both changes.
 */
async function markIfPaid(tx: ClientBase, { chainId, txHash }: PaymentKey, report: Report): Promise<void> {
  const { rows } = await tx.query<{
    id: string
    price: string
    dueCurrency: string
    amount: string | null
    paidCurrency: string | null
  }>(
    `select id, price, orders.currency as "dueCurrency", amount, payments.currency as "paidCurrency" from payments join orders on orders.id = order_id
     where chain_id = $1 and tx_hash = $2 and state = 'success' and paid_at is null`,
    [chainId, txHash],
  )
  const [order] = rows
  if (order === undefined) return
  const { id, price, dueCurrency, amount, paidCurrency } = order
  if (amount !== null && paidCurrency === dueCurrency && compareAmounts(parseAmount(amount), parseAmount(price)) === 0)
    await tx.query('update orders set paid_at = now() where id = $1 and paid_at is null', [id])
  else
    report(
      `order ${id} costs ${price} ${dueCurrency}; payment ${txHash} is a success over ${amount ?? 'no amount'} ${paidCurrency ?? ''}`,
    )
}
