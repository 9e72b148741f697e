/** Compares the copy with the read API, and makes deliveries. */
import type { Client, Payment } from '@payment-integration/client'
import type { Snapshot } from '@payment-integration/webhook'
import { createTestDelivery } from '@payment-integration/webhook/testing'
import type { Engine } from './engines.js'

/** The signing secret of the tests. */
export const secret = 'whsec_mirror'

/** A signed delivery of a snapshot. */
export const getDelivery = (snapshot: Snapshot) => createTestDelivery({ secret, snapshot })

/** The snapshot of a payment, as a notification carries it. */
export function makeSnapshot(payment: Payment): Snapshot {
  const { integrationAddress, chainId, txHash, version, state, recipient, invoice } = payment
  return { integrationAddress, chainId, txHash, version, state, recipient, invoice }
}

/** The payments of the table in the order of the read API, made of the typed columns alone. */
export async function getCopy(engine: Engine, prefix: string): Promise<unknown[]> {
  const rows = await engine.query(
    `SELECT * FROM ${prefix}payments ORDER BY block_timestamp DESC, chain_id DESC, tx_hash DESC`,
  )
  return rows.map((row) => ({
    integrationAddress: row['integration_address'],
    chainId: row['chain_id'],
    txHash: row['tx_hash'],
    version: Number(row['version']),
    state: row['state'],
    recipient:
      row['recipient_title'] === null ? null : { title: row['recipient_title'], subtitle: row['recipient_subtitle'] },
    invoice:
      row['invoice_amount'] === null
        ? null
        : {
            amount: row['invoice_amount'],
            currency: row['invoice_currency'],
            settlementAmount: row['invoice_settlement_amount'],
            settlementCurrency: row['invoice_settlement_currency'],
          },
    sender: row['sender'],
    receiver: row['receiver'],
    memo: row['memo'],
    blockTimestamp:
      row['block_timestamp'] === null ? null : new Date(row['block_timestamp'] as string | Date).toISOString(),
    source: { chainId: row['source_chain_id'], txHash: row['source_tx_hash'] },
    tokenIn: { address: row['token_in_address'], symbol: row['token_in_symbol'], amount: row['token_in_amount'] },
    tokenOut: {
      address: row['token_out_address'],
      symbol: row['token_out_symbol'],
      amountGross: row['token_out_amount_gross'],
      amountNet: row['token_out_amount_net'],
    },
  }))
}

/** The column `body` of every row, parsed, in the same order. */
export async function getBodies(engine: Engine, prefix: string): Promise<unknown[]> {
  const rows = await engine.query(
    `SELECT CAST(body AS text) AS body FROM ${prefix}payments ORDER BY block_timestamp DESC, chain_id DESC, tx_hash DESC`,
  )
  return rows.map(({ body }) => (body === null ? null : JSON.parse(String(body))))
}

/** Every payment of the read API. */
export async function payments(client: Pick<Client, 'payments'>): Promise<Payment[]> {
  const all: Payment[] = []
  for await (const payment of client.payments.iterate({ pageSize: 200 })) all.push(payment)
  return all
}
