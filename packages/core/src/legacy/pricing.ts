/**
 * Derives the invoice of a payment from the chain. Source: docs/interface.md 2.4; docs/decisions/legacy.md.
 * @module
 */
import { currencyCodePattern } from '@payment-integration/contract'
import type { PriceFeedFacts, PricingFacts } from '../payments/facts.js'
import type { StoredPayment } from '../payments/record.js'
import { formatUnits } from '../payments/units.js'
import { amountsThatConvertTo, roundestAmount } from './conversion.js'

/** The invoice behind a payment. */
export interface PaymentInvoice {
  /** Decimal string in `currency`. */
  readonly amount: string
  readonly currency: string
}

/** The two ends of a conversion: the invoice's currency, and the token's currency that the feeds lead to. */
interface ConversionEnds {
  readonly invoice: string
  readonly token: string
}

type Priced = Pick<StoredPayment, 'tokenOut' | 'pricing'>

/**
 * The invoice of a payment, or null when it is unknown. Anybody can deploy a token named USDC and use any contract as a
 * price feed. So the invoice is known only if the token is listed, and every feed has a pair and leads to that token. A
 * currency that verify rejects is never shown.
 */
export function invoiceOf({ tokenOut, pricing }: Priced): PaymentInvoice | null {
  const currency = invoiceCurrency(pricing)
  const amount = currency === null ? null : invoiceAmount(tokenOut, pricing)
  return currency === null || amount === null ? null : { amount: formatUnits(amount, tokenOut.decimals), currency }
}

/** `<provider>:<BASE><QUOTE>`; empty unless listed feeds lead from the invoice's currency to the token. */
export function conversionOf(pricing: PricingFacts): string {
  const ends = conversionEnds(pricing)
  if (ends === null) return ''
  const provider = pricing.feeds.some(({ contract }) => contract === null) ? 'external' : 'chainlink'
  return `${provider}:${ends.invoice}${ends.token}`
}

function invoiceCurrency(pricing: PricingFacts): string | null {
  if (pricing.feeds.length > 0) return conversionEnds(pricing)?.invoice ?? null
  const currency = pricing.listedToken?.currency
  return currency !== undefined && currencyCodePattern.test(currency) ? currency : null
}

/** Null unless the feeds form one path from a currency to the paid token. */
function conversionEnds({ listedToken, feeds }: PricingFacts): ConversionEnds | null {
  const ends = pathOf(feeds)
  if (ends === null || listedToken === null) return null
  if (!currencyCodePattern.test(ends.invoice) || !currencyCodePattern.test(ends.token)) return null
  // Codes are in capital letters; symbols may not be, such as crvUSD.
  return ends.token === listedToken.currency || ends.token === listedToken.symbol.toUpperCase() ? ends : null
}

function pathOf(feeds: readonly PriceFeedFacts[]): ConversionEnds | null {
  const [first, second, ...more] = feeds
  if (first?.pair == null || more.length > 0) return null
  const { base, quote } = first.pair
  if (second === undefined)
    return first.use === 'multiply' ? { invoice: base, token: quote } : { invoice: quote, token: base }
  if (first.use !== 'multiply' || second.use !== 'divide' || second.pair?.quote !== quote) return null
  return { invoice: base, token: second.pair.base }
}

function invoiceAmount({ gross, decimals }: StoredPayment['tokenOut'], pricing: PricingFacts): bigint | null {
  const { feeds, calledAmount } = pricing
  if (feeds.length === 0) return gross
  if (calledAmount !== null) return calledAmount
  const range = amountsThatConvertTo(gross, feeds)
  return range && roundestAmount(range, decimals)
}
