/** Builds payments, pages and snapshots of the integration API. Source: docs/interface.md 2.1 to 2.3. @module */
import {
  type InvoiceBody,
  type PageBody,
  type PaymentBody,
  pageWriteSchema,
  paymentStates,
  paymentWriteSchema,
  type RecipientBody,
  type SnapshotBody,
  snapshotWriteSchema,
} from '@payment-integration/contract'
import type { FakeClock } from '../fake-clock.js'
import type { Draws } from './draws.js'

/** Builders of one seed. Each call draws new values; given fields replace drawn ones. */
export interface PaymentBuilders {
  payment(fields?: Partial<PaymentBody>): PaymentBody
  /** A page of payments, newest first. @param payments - The payments, or their number. */
  page(payments?: number | readonly PaymentBody[], nextCursor?: string | null): PageBody
  snapshot(fields?: Partial<SnapshotBody>): SnapshotBody
  recipient(fields?: Partial<RecipientBody>): RecipientBody
  invoice(fields?: Partial<InvoiceBody>): InvoiceBody
}

/** Dependencies of the builders. */
export interface PaymentBuilderDeps {
  readonly draws: Draws
  readonly clock: Pick<FakeClock, 'now'>
  /** The integration of the payments. */
  readonly integrationAddress: string
}

const tokens = [
  { symbol: 'USDC', digits: 6 },
  { symbol: 'DAI', digits: 18 },
  { symbol: 'USDT', digits: 6 },
] as const
/** A chain of each finality in docs/interface.md 8. */
const chains = ['1', '10', '100', '137', '42161'] as const
const merchants = ['Example Coffee', 'Corner Books', 'North Bakery'] as const
const currencies = ['EUR', 'USD', 'CHF'] as const
const minuteMs = 60_000

/**
 * Makes the builders. Every shape passes the contract's write schema: a malformed field is an error of zod at once.
 */
export function createPaymentBuilders({ draws, clock, integrationAddress }: PaymentBuilderDeps): PaymentBuilders {
  /** A decimal of at least 0.01, with at most `digits` decimals. */
  const amount = (digits: number) => {
    const fraction = String(draws.whole(1, 99)).padStart(2, '0')
    return `${draws.whole(0, 500)}.${fraction}${digits > 2 ? String(draws.whole(1, 9)).padStart(digits - 2, '0') : ''}`
  }
  const recipient = (fields: Partial<RecipientBody> = {}): RecipientBody => ({
    title: draws.pick(merchants),
    subtitle: draws.pick([null, 'Main street']),
    ...fields,
  })
  const invoice = (fields: Partial<InvoiceBody> = {}): InvoiceBody => ({
    amount: amount(2),
    currency: draws.pick(currencies),
    settlementAmount: amount(2),
    settlementCurrency: 'USD',
    ...fields,
  })
  const snapshot = (fields: Partial<SnapshotBody> = {}): SnapshotBody =>
    snapshotWriteSchema.parse({
      integrationAddress,
      chainId: draws.pick(chains),
      txHash: draws.hex(32),
      version: 1,
      state: draws.pick([null, ...paymentStates]),
      recipient: draws.pick([recipient(), null]),
      invoice: draws.pick([invoice(), null]),
      ...fields,
    })
  const payment = (fields: Partial<PaymentBody> = {}): PaymentBody => {
    const { symbol, digits } = draws.pick(tokens)
    const gross = amount(digits)
    const seven = snapshot()
    return paymentWriteSchema.parse({
      ...seven,
      sender: draws.hex(20),
      receiver: draws.hex(20),
      memo: `order-${draws.whole(1_000, 9_999)}`,
      // Whole minutes of the last day, so that lists have an order and some neighbours share a time.
      blockTimestamp: new Date(clock.now() - draws.whole(1, 1_440) * minuteMs).toISOString(),
      source: { chainId: fields.chainId ?? seven.chainId, txHash: fields.txHash ?? seven.txHash },
      tokenIn: { address: draws.hex(20), symbol, amount: gross },
      tokenOut: { address: draws.hex(20), symbol, amountGross: gross, amountNet: gross },
      ...fields,
    })
  }
  return {
    payment,
    snapshot,
    recipient,
    invoice,
    page(payments = 3, nextCursor = null) {
      const list = typeof payments === 'number' ? Array.from({ length: payments }, () => payment()) : payments
      return pageWriteSchema.parse({ payments: list.toSorted(newestFirst), nextCursor })
    },
  }
}

/** The order of every list: block time, chain id and hash, descending. Source: docs/interface.md 4.1. */
export function newestFirst(a: PaymentBody, b: PaymentBody): number {
  const gap = Date.parse(b.blockTimestamp) - Date.parse(a.blockTimestamp) || Number(b.chainId) - Number(a.chainId)
  if (gap !== 0) return gap
  return a.txHash < b.txHash ? 1 : a.txHash > b.txHash ? -1 : 0
}

/** The seven fields that a payment shares with its notification. Source: docs/interface.md 2.1. */
export function snapshotOf(payment: PaymentBody): SnapshotBody {
  const { integrationAddress, chainId, txHash, version, state, recipient, invoice } = payment
  return { integrationAddress, chainId, txHash, version, state, recipient, invoice }
}
