/** Columns of a payment and their values. Source: docs/interface.md 2.1, 2.3. @module */
import type { Payment } from '@payment-integration/client'
import type { Snapshot } from '@payment-integration/webhook'

/** A value of a column, as every driver takes it. */
export type Value = string | number | null

/** The primary key of a payment. */
export const keyColumns = ['integration_address', 'chain_id', 'tx_hash'] as const

/** The other columns that a delivery carries. */
export const snapshotColumns = [
  'version',
  'state',
  'recipient_title',
  'recipient_subtitle',
  'invoice_amount',
  'invoice_currency',
  'invoice_settlement_amount',
  'invoice_settlement_currency',
] as const

/** The columns that only the read API gives. */
export const factColumns = [
  'sender',
  'receiver',
  'memo',
  'block_timestamp',
  'source_chain_id',
  'source_tx_hash',
  'token_in_address',
  'token_in_symbol',
  'token_in_amount',
  'token_out_address',
  'token_out_symbol',
  'token_out_amount_gross',
  'token_out_amount_net',
  'body',
  'body_version',
] as const

/** A payment of one integration. */
export interface Key {
  readonly integrationAddress: string
  readonly chainId: string
  readonly txHash: string
}

/** Values of {@link keyColumns}. */
export function keyValues({ integrationAddress, chainId, txHash }: Key): Value[] {
  return [integrationAddress, chainId, txHash]
}

/** Values of {@link snapshotColumns}. */
export function snapshotValues({ version, state, recipient, invoice }: Snapshot | Payment): Value[] {
  return [
    version,
    storable(state),
    storable(recipient?.title ?? null),
    storable(recipient?.subtitle ?? null),
    invoice?.amount ?? null,
    invoice?.currency ?? null,
    invoice?.settlementAmount ?? null,
    invoice?.settlementCurrency ?? null,
  ]
}

/** Values of {@link factColumns}. */
export function factValues(payment: Payment): Value[] {
  const { sender, receiver, memo, blockTimestamp, source, tokenIn, tokenOut } = payment
  return [
    sender,
    receiver,
    storable(memo),
    // One form for all, so that SQLite orders the texts by time.
    new Date(blockTimestamp).toISOString(),
    source.chainId,
    source.txHash,
    tokenIn.address,
    storable(tokenIn.symbol),
    tokenIn.amount,
    tokenOut.address,
    storable(tokenOut.symbol),
    tokenOut.amountGross,
    tokenOut.amountNet,
    bodyOf(payment),
    payment.version,
  ]
}

/** The payment as JSON, unknown fields included. JSON escapes what a text column cannot hold. */
export function bodyOf(payment: Payment): string {
  return JSON.stringify(payment)
}

/**
 * PostgreSQL stores no U+0000 in a text, and UTF-8 has no half of a surrogate pair. Both become U+FFFD, on SQLite too,
 * so that all mirrors agree. `body` keeps the original.
 */
function storable(text: string | null): string | null {
  return text?.replace(/\0|\p{Surrogate}/gu, '\ufffd') ?? null
}
