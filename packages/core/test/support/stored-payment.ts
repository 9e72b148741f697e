import type { PaymentFacts, PricingFacts } from '../../src/payments/payment.js'
import { initialStatus, type StoredPayment } from '../../src/payments/payment.js'

const usdc = { address: `0x${'70'.repeat(20)}`, symbol: 'USDC', decimals: 6 }

/** No conversion, and a token that is on the list. */
export const plainPricing: PricingFacts = {
  listedToken: { symbol: 'USDC', currency: 'USD' },
  feeds: [],
  calledAmount: null,
  serviceFee: null,
}

/** A 32-byte hex string that shows its text in a dump. */
export const hashOf = (text: string): string => `0x${Buffer.from(text).toString('hex').padStart(64, '0')}`

/** The name that the hash of a payment is made from. */
export const getName = ({ txHash }: { readonly txHash: string }): string =>
  Buffer.from(txHash.slice(2).replace(/^(?:00)+/, ''), 'hex').toString()

/** The facts of a payment; its hash is made from `name`. */
export function paymentFacts(name: string, given: Partial<PaymentFacts> = {}): PaymentFacts {
  return {
    chainId: 1,
    txHash: hashOf(name),
    ordinal: 0,
    logIndex: 0,
    blockNumber: 100,
    blockHash: hashOf('block 100'),
    blockTimestamp: Date.UTC(2026, 0, 1),
    router: { address: `0x${'99'.repeat(20)}`, version: '0.8' },
    sender: `0x${'51'.repeat(20)}`,
    receiver: `0x${'52'.repeat(20)}`,
    memoHex: hashOf(''),
    integrationAddress: `0x${'a1'.repeat(20)}`,
    source: { chainId: 1, txHash: hashOf(name) },
    tokenIn: { ...usdc, amount: 1_000_000n },
    tokenOut: { ...usdc, gross: 1_000_000n, net: 990_000n },
    pricing: plainPricing,
    ...given,
  }
}

/** A stored payment; its hash is made from its id. */
export function storedPayment(given: Pick<StoredPayment, 'id'> & Partial<StoredPayment>): StoredPayment {
  return { ...paymentFacts(given.id), ...initialStatus, primary: true, offChain: false, dropped: null, ...given }
}
