/** A stored payment: facts of the chain, amounts, memo and merchant data. Source: docs/interface.md 2.1. @module */
import { isUtf8 } from 'node:buffer'
import type { InvoiceBody, PaymentState, RecipientBody } from '@payment-integration/contract'

/** Decodes UTF-8 without the NUL padding. Other bytes stay 0x hex, which is longer than any text memo. */
export function decodeMemo(memoHex: string): string {
  let end = memoHex.length
  while (end > 2 && memoHex.endsWith('00', end)) end -= 2
  const text = Buffer.from(memoHex.slice(2, end), 'hex')
  return isUtf8(text) ? text.toString('utf8') : memoHex
}

/** Copies the contract's fields in their order: equal data is equal text, and no unknown field reaches a snapshot. */
export function copyRecipient(recipient: RecipientBody | null): RecipientBody | null {
  return recipient && { title: recipient.title, subtitle: recipient.subtitle }
}

export function copyInvoice(invoice: InvoiceBody | null): InvoiceBody | null {
  if (invoice === null) return null
  const { amount, currency, settlementAmount, settlementCurrency } = invoice
  return { amount, currency, settlementAmount, settlementCurrency }
}

/** Formats base units in token units without trailing zeros: 10_038_880n with 6 decimals is `10.03888`. */
export function formatUnits(value: bigint, decimals: number): string {
  if (value < 0n) throw new RangeError(`An amount is ${value}; pass 0 or more.`)
  return insertDecimalPoint(value.toString(), decimals)
}

/** As {@link formatUnits}, from decimal digits without a leading zero, or `0`. */
export function insertDecimalPoint(digits: string, decimals: number): string {
  if (decimals === 0 || digits === '0') return digits
  let end = digits.length
  // A regular expression for the zeros would cost more than all other steps.
  for (let zeros = 0; zeros < decimals && digits.charCodeAt(end - 1) === zero; zeros += 1) end -= 1
  const point = digits.length - decimals
  if (point > 0) return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
  return `0.${'0'.repeat(-point)}${digits.slice(0, end)}`
}

const zero = 0x30

/** The exact sum of decimal strings, with as many digits after the point as the longest has. */
export function sumDecimals(amounts: readonly string[]): string {
  const parts = amounts.map((amount) => amount.split('.'))
  const decimals = parts.reduce((longest, [, fraction = '']) => Math.max(longest, fraction.length), 0)
  const units = parts.map(([whole, fraction = '']) => BigInt(`${whole}${fraction.padEnd(decimals, '0')}`))
  const digits = String(units.reduce((sum, each) => sum + each, 0n)).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** A token as the chain describes it. Amounts are in base units and are formatted when they are read. */
export interface TokenFacts {
  /** Token address, lowercased. */
  readonly address: string
  /** Null when the token answers no `symbol()`. */
  readonly symbol: string | null
  /** 0 when the token answers no `decimals()`. */
  readonly decimals: number
}

/** One step of a conversion from the invoice currency to the token. Source: docs/interface.md 2.4 (priceFeeds). */
export interface PriceFeedFacts {
  /** How the router used the rate: `multiply` from base to quote, `divide` from quote to base, each rounded down. */
  readonly use: 'multiply' | 'divide'
  /** Feed contract, lowercased; null for a signed rate from outside the chain. */
  readonly contract: string | null
  /**
   * The currencies of the rate. Null when the feed is not listed, or nothing proves that the router used this rate.
   * Anybody can deploy a feed, and make a router emit a conversion that never happened.
   */
  readonly pair: { readonly base: string; readonly quote: string } | null
  /** The rate times 10^`decimals`, above 0. */
  readonly rate: bigint
  /** From the list of feeds; an assumption for a feed that is not listed. */
  readonly decimals: number
}

/** The price of a payment as the chain shows it. Invoice and fees are derived when they are read. */
export interface PricingFacts {
  /** The entry of the paid token in the list of known tokens, by chain and address; null when it is not listed. */
  readonly listedToken: {
    readonly symbol: string
    /** The currency that one token equals, such as `USD`; the token's own name if it equals none, such as `ETH`. */
    readonly currency: string
  } | null
  /** The conversion, in order of use; empty when there was none. At most two steps. */
  readonly feeds: readonly PriceFeedFacts[]
  /**
   * The amount before the conversion in the call to the router, in units of 10^-decimals of the token. Null when there
   * was no such call, or the call does not lead to the paid amount.
   */
  readonly calledAmount: bigint | null
  /** The service's part of the fees in the call, in base units; null when the call does not name it. */
  readonly serviceFee: bigint | null
}

/** The facts of one payment, decoded from a block that is on the chain. */
export interface PaymentFacts {
  /** Destination chain. */
  readonly chainId: number
  /** Destination transaction, lowercased. */
  readonly txHash: string
  /** Position among the payments of its transaction, from 0, by log index. A reorg does not change it. */
  readonly ordinal: number
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: string
  /** Unix time of the block in milliseconds. */
  readonly blockTimestamp: number
  /** The listed router that emitted the payment, lowercased, and its contract version such as `0.8`. */
  readonly router: { readonly address: string; readonly version: string }
  /** Payer and payee, lowercased. */
  readonly sender: string
  readonly receiver: string
  /** The 32 bytes of the memo as 0x hex; they need not be text. */
  readonly memoHex: string
  /** The integration address that the payment names, lowercased, or null. */
  readonly integrationAddress: string | null
  /** The source-chain transaction; its hash is lowercased. */
  readonly source: { readonly chainId: number; readonly txHash: string }
  /** Paid by the payer, in base units. */
  readonly tokenIn: TokenFacts & { readonly amount: bigint }
  /** Received by the payee, in base units: gross includes fees, net does not. */
  readonly tokenOut: TokenFacts & { readonly gross: bigint; readonly net: bigint }
  readonly pricing: PricingFacts
}

/** The part of a payment that a processor changes and a snapshot carries. */
export interface PaymentStatus {
  /** 1 on first indexing; every accepted change adds 1. */
  readonly version: number
  readonly state: PaymentState | null
  readonly recipient: RecipientBody | null
  readonly invoice: InvoiceBody | null
}

/** The status of a newly indexed payment. */
export const initialStatus: PaymentStatus = { version: 1, state: null, recipient: null, invoice: null }

/**
 * A stored payment. The read API shows the `primary` one: the lowest ordinal of its transaction among the payments that
 * name the same integration (or none). Only primary payments change their state.
 */
export interface StoredPayment extends PaymentFacts, PaymentStatus {
  /** The store's own key: opaque, never shown outside. */
  readonly id: string
  readonly primary: boolean
  /** True from the time its block left the chain until another block contains the payment. */
  readonly offChain: boolean
  /**
   * Set once the height of its former block is final and no block contains the payment: the state became `failure`.
   * `formerState` is restored if the payment returns to the chain. Source: docs/decisions/reorganizations.md.
   */
  readonly dropped: { readonly formerState: PaymentState | null } | null
}
