/** Formats a payment for the legacy endpoints. Source: docs/interface.md 2.4. @module */
import type { Lookup } from '@payment-integration/contract'
import type { PriceFeedFacts } from '../payments/facts.js'
import { memoText } from '../payments/memo.js'
import type { StoredPayment } from '../payments/record.js'
import { formatUnits, placePoint } from '../payments/units.js'
import { type Fee, feesOf } from './fees.js'
import { conversionOf, type PaymentInvoice } from './pricing.js'

/** A payment item of the look-up. */
export type LegacyPayment = Lookup['payments'][number]

/** Builds the item field by field from facts of the chain alone, never integration, state or merchant data. */
export function legacyPayment(
  payment: StoredPayment,
  { invoice, final }: { readonly invoice: PaymentInvoice | null; readonly final: boolean },
): LegacyPayment {
  const { tokenOut, pricing } = payment
  const { decimals } = tokenOut
  const fees = feesOf(payment)
  return {
    memo: memoText(payment.memoHex),
    receiver: payment.receiver,
    tokenSymbol: tokenOut.symbol ?? '',
    tokenAmount: amountOf(tokenOut.gross, decimals),
    tokenAmountNet: amountOf(tokenOut.net, decimals),
    totalFees: amountOf(fees.total, decimals),
    fees: fees.parts.map((fee) => feeOf(fee, decimals)),
    invoiceAmount: invoice?.amount ?? '',
    invoiceCurrency: invoice?.currency ?? '',
    conversion: conversionOf(pricing),
    priceFeeds: pricing.feeds.map(priceFeed),
    final,
  }
}

function amountOf(units: bigint, decimals: number) {
  const value = units.toString()
  return { formatted: placePoint(value, decimals), value }
}

function feeOf({ type, value }: Fee, decimals: number): LegacyPayment['fees'][number] {
  const { formatted, value: units } = amountOf(value, decimals)
  return { type, formatted, value: units }
}

function priceFeed({ pair, contract, rate, decimals }: PriceFeedFacts): LegacyPayment['priceFeeds'][number] {
  return {
    name: pair === null ? '' : `${pair.base}${pair.quote}`,
    contract: contract ?? '',
    rate: formatUnits(rate, decimals),
  }
}
