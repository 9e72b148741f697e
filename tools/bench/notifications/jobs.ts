/** Builds the deliveries: every way sends the same bodies to the same endpoints. @module */
import type { NewPayment } from '@payment-integration/core/ports'

/** The chain of every payment. */
export const chainId = 10
/** Integrations, which the deliveries name in turn. */
export const integrations: readonly string[] = Array.from({ length: 10 }, (_, n) => `0x${`${n}b`.repeat(20)}`)
/** POSTs in flight: the default of the dispatcher. */
export const inFlight = 256

/** One delivery. */
export interface Job {
  readonly integrationAddress: string
  readonly txHash: string
  /** About 1 KB. */
  readonly body: string
}

/** The n-th delivery, from 0. */
export function jobAt(place: number): Job {
  const integrationAddress = integrations[place % integrations.length] ?? ''
  const txHash = `0x${place.toString(16).padStart(64, '0')}`
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

const usdc = { address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85', symbol: 'USDC', decimals: 6 }

/** The payment of a job. */
export function paymentOf(job: Job, place: number): NewPayment {
  const { txHash, integrationAddress } = job
  return {
    primary: true,
    facts: {
      chainId,
      txHash,
      ordinal: 0,
      logIndex: 3,
      blockNumber: 1 + Math.floor(place / 100),
      blockHash: `0x${Math.floor(place / 100)
        .toString(16)
        .padStart(64, 'b')}`,
      blockTimestamp: 1_700_000_000_000 + place * 10,
      router: { address: '0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9', version: '0.8' },
      sender: `0x${place.toString(16).padStart(40, 'c')}`,
      receiver: `0x${(place % 1_000).toString(16).padStart(40, 'd')}`,
      memoHex: `0x${'00'.repeat(32)}`,
      integrationAddress,
      source: { chainId, txHash },
      tokenIn: { ...usdc, amount: 10_038_880n },
      tokenOut: { ...usdc, gross: 10_038_880n, net: 10_018_803n },
      pricing: { listedToken: { symbol: 'USDC', currency: 'USD' }, feeds: [], calledAmount: null, serviceFee: null },
    },
  }
}
