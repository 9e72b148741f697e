/** A payment as the legacy endpoints show it. Source: INTERFACE 2.4. @module */
import type { Lookup } from '@payment-integration/contract'
import type { PriceFeedFacts } from '../payments/facts.js'
import { memoText } from '../payments/memo.js'
import type { StoredPayment } from '../payments/record.js'
import { formatUnits } from '../payments/units.js'
import { feesOf } from './fees.js'
import { conversionOf, type PaymentInvoice } from './pricing.js'

/** A payment item of the look-up. */
export type LegacyPayment = Lookup['payments'][number]

/** Builds the item field by field: facts of the chain alone, never integration, state or merchant. */
export function legacyPayment(
  payment: StoredPayment,
  { invoice, final }: { readonly invoice: PaymentInvoice | null; readonly final: boolean },
): LegacyPayment {
  const { tokenOut, pricing } = payment
  const amount = (value: bigint) => ({ formatted: formatUnits(value, tokenOut.decimals), value: String(value) })
  const fees = feesOf(payment)
  return {
    memo: memoText(payment.memoHex),
    receiver: payment.receiver,
    tokenSymbol: tokenOut.symbol ?? '',
    tokenAmount: amount(tokenOut.gross),
    tokenAmountNet: amount(tokenOut.net),
    totalFees: amount(fees.total),
    fees: fees.parts.map(({ type, value }) => ({ type, ...amount(value) })),
    invoiceAmount: invoice?.amount ?? '',
    invoiceCurrency: invoice?.currency ?? '',
    conversion: conversionOf(pricing),
    priceFeeds: pricing.feeds.map(priceFeed),
    final,
  }
}

function priceFeed({ pair, contract, rate, decimals }: PriceFeedFacts): LegacyPayment['priceFeeds'][number] {
  return {
    name: pair === null ? '' : `${pair.base}${pair.quote}`,
    contract: contract ?? '',
    rate: formatUnits(rate, decimals),
  }
}
