/** The payments whose states change, and their updates. @module */
import { createHash } from 'node:crypto'
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { NewPayment, Store } from '@payment-integration/core/ports'
import { paymentOf } from '../notifications/jobs.js'

/** Integrations that the payments name in turn. */
export const integrations: readonly string[] = Array.from({ length: 10 }, (_, n) => `0x${`${n}c`.repeat(20)}`)

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

const feed = {
  use: 'divide',
  contract: `0x${'f1'.repeat(20)}`,
  pair: { base: 'CHF', quote: 'USD' },
  rate: 112_160_000n,
  decimals: 8,
} as const

/** The n-th payment, from 0, with scattered hashes and addresses as on a chain. */
export function paymentAt(n: number): NewPayment {
  const txHash = `0x${digest(`transaction ${n}`)}`
  const integrationAddress = integrations[n % integrations.length] ?? ''
  const { facts } = paymentOf({ integrationAddress, txHash, body: '' }, n)
  return {
    primary: true,
    facts: {
      ...facts,
      blockHash: `0x${digest(`block ${facts.blockNumber}`)}`,
      sender: `0x${digest(`sender ${n}`).slice(0, 40)}`,
      receiver: `0x${digest(`receiver ${n % 1_000}`).slice(0, 40)}`,
      memoHex: `0x${digest(`memo ${n}`)}`,
      pricing: n % 2 === 0 ? facts.pricing : { ...facts.pricing, feeds: [feed] },
    },
  }
}

/**
 * The payments `from` to `from + count` in the order in which their updates come: a processor confirms each after its
 * own time, not in the order of blocks.
 */
export const shuffled = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => from + n)
    .map((n) => [digest(`order ${n}`), n] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, n]) => n)

/** Updates of each payment, in their order. */
export const rounds = 2

/** The update of a payment and round: first `pending` with the merchant's data, then `success`. */
export function updateAt(n: number, round: number): ProcessorUpdate {
  const { facts } = paymentAt(n)
  const name = {
    id: `evt_${digest(`update ${n} ${round}`).slice(0, 26)}`,
    chainId: String(facts.chainId),
    txHash: facts.txHash,
  }
  return round === 0
    ? {
        ...name,
        state: 'pending',
        recipient: { title: 'Kiosk an der Brücke', subtitle: 'Counter 3' },
        invoice: { amount: '12.50', currency: 'CHF', settlementAmount: '14.02', settlementCurrency: 'USD' },
      }
    : { ...name, state: 'success' }
}

/** Stores payments with version 1, as an indexer does. */
export async function storePayments(store: Store, from: number, count: number): Promise<void> {
  await store.transaction(async (tx) => {
    const { inserted } = await tx.upsertPayments(Array.from({ length: count }, (_, n) => paymentAt(from + n)))
    await tx.insertSnapshots(
      inserted.map(({ id, integrationAddress, chainId, txHash }) => ({
        paymentId: id,
        version: 1,
        integrationAddress,
        chainId,
        txHash,
        body: Buffer.from(JSON.stringify(firstSnapshot(integrationAddress, chainId, txHash))),
      })),
    )
  })
}

const firstSnapshot = (integrationAddress: string | null, chainId: number, txHash: string) => ({
  integrationAddress,
  chainId: String(chainId),
  txHash,
  version: 1,
  state: null,
  recipient: null,
  invoice: null,
})
