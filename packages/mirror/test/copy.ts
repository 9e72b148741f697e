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
  return rows.map(({ block_timestamp: time, ...row }) => {
    /** The columns that begin with a prefix, as the object that they are in the read API. */
    const group = (start: string, ...names: string[]) =>
      Object.fromEntries(names.map((name) => [name, row[`${start}_${name.replace(/[A-Z]/g, '_$&').toLowerCase()}`]]))
    return {
      ...{ integrationAddress: row['integration_address'], chainId: row['chain_id'], txHash: row['tx_hash'] },
      ...{ version: Number(row['version']), state: row['state'] },
      recipient: row['recipient_title'] === null ? null : group('recipient', 'title', 'subtitle'),
      invoice:
        row['invoice_amount'] === null
          ? null
          : group('invoice', 'amount', 'currency', 'settlementAmount', 'settlementCurrency'),
      ...{ sender: row['sender'], receiver: row['receiver'], memo: row['memo'] },
      blockTimestamp: time === null ? null : new Date(time as string | Date).toISOString(),
      source: group('source', 'chainId', 'txHash'),
      tokenIn: group('token_in', 'address', 'symbol', 'amount'),
      tokenOut: group('token_out', 'address', 'symbol', 'amountGross', 'amountNet'),
    }
  })
}

/** The column `body` of every row, parsed, in the same order. */
export async function getBodies(engine: Engine, prefix: string): Promise<unknown[]> {
  const rows = await engine.query(
    `SELECT CAST(body AS text) AS body FROM ${prefix}payments ORDER BY block_timestamp DESC, chain_id DESC, tx_hash DESC`,
  )
  return rows.map(({ body }) => (body === null ? null : JSON.parse(String(body))))
}

/** The newest payment of a service. */
export async function firstPayment(service: { client(): Pick<Client, 'payments'> }): Promise<Payment> {
  const [first] = await payments(service.client())
  if (first === undefined) throw new Error('the service has no payment')
  return first
}

/** Every payment of the read API. */
export async function payments(client: Pick<Client, 'payments'>): Promise<Payment[]> {
  const all: Payment[] = []
  for await (const payment of client.payments.iterate({ pageSize: 200 })) all.push(payment)
  return all
}
