/** The payments and deliveries that benches write: the n-th is the same in every way and process. @module */
import { createHash } from 'node:crypto'
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { NewPayment, NewSnapshot, StoreTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'

/** The chain of every payment. */
export const chainId = 10
/** Integrations, which the payments name in turn. */
export const integrations: readonly string[] = Array.from({ length: 10 }, (_, n) => `0x${`${n}b`.repeat(20)}`)

/** POSTs in flight: the default of the dispatcher. */
export const inFlight = 256

export interface PaymentRange {
  readonly from: number
  readonly count: number
}

/** A delivery, as a queue library is given it. */
export interface Job {
  readonly integrationAddress: string
  readonly txHash: string
  /** About 1 KB. */
  readonly body: string
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const getIntegration = (n: number) => integrations[n % integrations.length] ?? ''
const makeTxHash = (n: number) => `0x${digest(`transaction ${n}`)}`
const usdc = { address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85', symbol: 'USDC', decimals: 6 }
const feed = {
  use: 'divide',
  contract: `0x${'f1'.repeat(20)}`,
  pair: { base: 'CHF', quote: 'USD' },
  rate: 112_160_000n,
  decimals: 8,
} as const

/** The n-th payment, from 0, with scattered hashes and addresses as on a chain. */
export function paymentAt(n: number): NewPayment {
  const txHash = makeTxHash(n)
  const blockNumber = 1 + Math.floor(n / 100)
  return {
    primary: true,
    facts: {
      chainId,
      txHash,
      ordinal: 0,
      logIndex: 3,
      blockNumber,
      blockHash: `0x${digest(`block ${blockNumber}`)}`,
      blockTimestamp: 1_700_000_000_000 + n * 10,
      router: { address: '0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9', version: '0.8' },
      sender: `0x${digest(`sender ${n}`).slice(0, 40)}`,
      receiver: `0x${digest(`receiver ${n % 1_000}`).slice(0, 40)}`,
      memoHex: `0x${digest(`memo ${n}`)}`,
      integrationAddress: getIntegration(n),
      source: { chainId, txHash },
      tokenIn: { ...usdc, amount: 10_038_880n },
      tokenOut: { ...usdc, gross: 10_038_880n, net: 10_018_803n },
      pricing: {
        listedToken: { symbol: 'USDC', currency: 'USD' },
        feeds: n % 2 === 0 ? [] : [feed],
        calledAmount: null,
        serviceFee: null,
      },
    },
  }
}

/** The delivery of the n-th payment's first version. */
export function jobAt(n: number): Job {
  const [integrationAddress, txHash] = [getIntegration(n), makeTxHash(n)]
  const title = 'Kiosk an der Brücke, Bahnhofstrasse 1, 8001 Zürich. '.repeat(11)
  const snapshot = {
    integrationAddress,
    chainId: String(chainId),
    txHash,
    version: 1,
    state: null,
    recipient: { title, subtitle: 'Counter 3' },
    invoice: { amount: '12.50', currency: 'CHF', settlementAmount: '14.02', settlementCurrency: 'USD' },
  }
  return { integrationAddress, txHash, body: JSON.stringify(snapshot) }
}

/** The transaction of a body, found by its field name, which is the cheapest way. */
export function txHashIn(body: Buffer): string {
  const at = body.indexOf('"txHash":"') + '"txHash":"'.length
  return body.toString('latin1', at, at + 66)
}

interface PaymentWithBody {
  readonly payment: NewPayment
  readonly body: Buffer
}

export function makePayments({ from, count }: PaymentRange): PaymentWithBody[] {
  return Array.from({ length: count }, (_, n) => ({
    payment: paymentAt(from + n),
    body: Buffer.from(jobAt(from + n).body),
  }))
}

/** Stores payments with version 1 and its delivery in one transaction, as an indexer does. */
export async function storePayments(store: Pick<Store, 'transaction'>, range: PaymentRange): Promise<void> {
  const payments = makePayments(range)
  await store.transaction(async (tx) => tx.insertSnapshots(await insertPayments(tx, payments)))
}

/** Stores payments without their first snapshots, and resolves those snapshots in order. */
export async function storeWithoutSnapshots(store: Pick<Store, 'transaction'>, { from, count }: PaymentRange) {
  const snapshots: NewSnapshot[] = []
  for (let done = 0; done < count; done += batch) {
    const payments = makePayments({ from: from + done, count: Math.min(batch, count - done) })
    snapshots.push(...(await store.transaction((tx) => insertPayments(tx, payments))))
  }
  return snapshots
}

/** Payments of a transaction while a backlog is prepared. */
export const batch = 500

async function insertPayments(tx: StoreTransaction, made: readonly PaymentWithBody[]): Promise<NewSnapshot[]> {
  const bodies = new Map(made.map(({ payment, body }) => [payment.facts.txHash, body]))
  const { inserted } = await tx.upsertPayments(made.map(({ payment }) => payment))
  return inserted.map(({ id, txHash, chainId: chain, integrationAddress }) => {
    const body = bodies.get(txHash)
    if (body === undefined) throw new Error(`no payment of ${txHash} was given`)
    return { paymentId: id, version: 1, body, integrationAddress, chainId: chain, txHash }
  })
}

/** Updates of each payment: `updateAt` numbers them from 0. */
export const updatesPerPayment = 2

/** The update of a payment and round: first `pending` with the merchant's data, then `success`. */
export function updateAt(n: number, round: number): ProcessorUpdate {
  const id = `evt_${digest(`update ${n} ${round}`).slice(0, 26)}`
  const update = { id, chainId: String(chainId), txHash: makeTxHash(n) }
  return round === 0
    ? {
        ...update,
        state: 'pending',
        recipient: { title: 'Kiosk an der Brücke', subtitle: 'Counter 3' },
        invoice: { amount: '12.50', currency: 'CHF', settlementAmount: '14.02', settlementCurrency: 'USD' },
      }
    : { ...update, state: 'success' }
}

/** Orders items by hashes of their positions: the same for the same seed. */
export function shuffle<Item>(items: readonly Item[], seed: string): Item[] {
  return items
    .map((item, n) => ({ item, key: digest(`${seed} ${n}`) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item)
}

/** Registers the integrations. @param getUrl - Returns the notification URL of the n-th integration. */
export async function createIntegrations(
  service: Service,
  getUrl: (address: string, n: number) => string = (_, n) => `http://127.0.0.1:9/${n}`,
): Promise<void> {
  for (const [n, address] of integrations.entries())
    await service.integrations.create({ address, notificationUrl: getUrl(address, n) })
}
