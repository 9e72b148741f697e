/** What a payment was charged for, as far as the chain proves it. Source: INTERFACE 2.4; DESIGN section 3 (legacy). @module */
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
 * The invoice of a payment, or null when it is unknown. Anybody can deploy a token that calls itself USDC and name any
 * contract as a price feed, so it is known only where the token is listed and every feed has a pair and leads to that token.
 */
export function invoiceOf({ tokenOut, pricing }: Priced): PaymentInvoice | null {
  const currency = invoiceCurrency(pricing)
  const amount = currency === null ? null : invoiceAmount(tokenOut, pricing)
  return currency === null || amount === null ? null : { amount: formatUnits(amount, tokenOut.decimals), currency }
}

/** `<provider>:<BASE><QUOTE>`; nothing after the colon when the feeds do not lead to the token; empty without feeds. */
export function conversionOf(pricing: PricingFacts): string {
  if (pricing.feeds.length === 0) return ''
  const ends = conversionEnds(pricing)
  return `${providerOf(pricing.feeds)}:${ends === null ? '' : `${ends.invoice}${ends.token}`}`
}

// `unlisted` stands for every feed of the chain whose rate is not believed.
function providerOf(feeds: readonly PriceFeedFacts[]): 'chainlink' | 'external' | 'unlisted' {
  if (feeds.some(({ contract, pair }) => contract !== null && pair === null)) return 'unlisted'
  return feeds.some(({ contract }) => contract === null) ? 'external' : 'chainlink'
}

function invoiceCurrency(pricing: PricingFacts): string | null {
  if (pricing.feeds.length === 0) return pricing.listedToken?.currency ?? null
  return conversionEnds(pricing)?.invoice ?? null
}

/** Null unless the feeds form one path from a currency to the token that was paid. */
function conversionEnds({ listedToken, feeds }: PricingFacts): ConversionEnds | null {
  const ends = pathOf(feeds)
  if (ends === null || listedToken === null) return null
  return ends.token === listedToken.currency || ends.token === listedToken.symbol ? ends : null
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
