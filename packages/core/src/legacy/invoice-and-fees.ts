/** Derives the invoice and the fees of a payment from the chain. Source: docs/interface.md 2.4, 4.3. @module */
import { currencyCodePattern, verifyRequestLimits } from '@payment-integration/contract'
import { formatUnits, type PriceFeedFacts, type PricingFacts, type StoredPayment } from '../payments/payment.js'

/** A plain decimal such as `12.50`: no sign, exponent, space or leading zero, at most 100 characters. */
export function isPlainDecimal(text: string): boolean {
  return text.length <= verifyRequestLimits.invoiceAmount && /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(text)
}

/** The shortest text of a plain decimal; equal numbers have equal text. */
export function trimDecimal(text: string): string {
  if (!text.includes('.')) return text
  const short = trimTrailingZeros(text)
  return short.endsWith('.') ? short.slice(0, -1) : short
}

/** Whether two plain decimals are the same number, as `1.0` and `1` are. */
export function isSameDecimal(a: string, b: string): boolean {
  return trimDecimal(a) === trimDecimal(b)
}

/** Writes `1.5e-3` as `0.0015`. Null: a sign, no JSON number, or more than 100 characters. */
export function expandExponent(token: string): string | null {
  const parts = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(token) ?? []
  const [, integerDigits, fraction = '', exponent = '0'] = parts
  if (integerDigits === undefined) return null
  const digits = `${integerDigits}${fraction}`
  if (/^0+$/.test(digits)) return '0'
  // The digits before the point.
  const point = integerDigits.length + Number(exponent)
  const limit = verifyRequestLimits.invoiceAmount
  // Rejected before padding: an exponent of a few characters could ask for gigabytes of zeros.
  if (Math.abs(point) > limit + digits.length) return null
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits
  const start = Math.max(point, 1)
  const text = trimDecimal(`${padded.slice(0, start)}.${padded.slice(start)}`).replace(/^0+(?=[0-9])/, '')
  return text.length > limit ? null : text
}

/** Null unless a usual JSON parser reads the number exactly: it reads `9007199254740993` as `9007199254740992`. */
export function parseNumberToken(token: string): string | null {
  const exact = expandExponent(token)
  return exact !== null && exact === expandExponent(String(Number(token))) ? exact : null
}

/** A loop, because a pattern would take quadratic time on a run of zeros. */
function trimTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/** Amounts, both ends included, in the router's units: 10^-decimals of the token. */
interface AmountRange {
  readonly from: bigint
  readonly to: bigint
}

/** The arithmetic of one step of a conversion. */
export type ConversionFeed = Pick<PriceFeedFacts, 'use' | 'rate' | 'decimals'>

/** Converts an amount like the router: each step is rounded down. Rates are above 0. */
export function convertAmount(amount: bigint, feeds: readonly ConversionFeed[]): bigint {
  return feeds.map(toFactors).reduce((value, { times, over }) => (value * times) / over, amount)
}

/** The amounts that convert to exactly `converted`, or null when none does. Rates are above 0. */
export function invertConversion(converted: bigint, feeds: readonly ConversionFeed[]): AmountRange | null {
  let range: AmountRange = { from: converted, to: converted }
  for (const { times, over } of feeds.map(toFactors).reverse()) {
    // floor(x * times / over) >= y exactly when x >= y * over / times. So the smallest x for y is that quotient,
    // rounded up, and the largest is one less than the smallest x for y + 1.
    range = { from: roundUp(range.from * over, times), to: roundUp((range.to + 1n) * over, times) - 1n }
  }
  return range.from <= range.to ? range : null
}

/** The amount of a range with the fewest decimals, or the smallest of several: invoices have round amounts. */
export function findRoundestAmount({ from, to }: AmountRange, decimals: number): bigint {
  for (let step = 10n ** BigInt(decimals); step > 1n; step /= 10n) {
    const amount = roundUp(from, step) * step
    if (amount <= to) return amount
  }
  return from
}

function toFactors({ use, rate, decimals }: ConversionFeed): { readonly times: bigint; readonly over: bigint } {
  const unit = 10n ** BigInt(decimals)
  return use === 'multiply' ? { times: rate, over: unit } : { times: unit, over: rate }
}

function roundUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

/** The router's own fee in basis points of the gross amount, charged when the payment has a memo. */
const serviceFeeBps = 20n
const wholeBps = 10_000n

/** The fees of a payment, in base units. Parts of 0 are left out, so that `parts` adds up to `total`. */
export function computeFees(payment: Pick<StoredPayment, 'tokenOut' | 'memoHex' | 'pricing'>) {
  const { gross, net } = payment.tokenOut
  const total = gross - net
  const hasMemo = !/^0x0*$/.test(payment.memoHex)
  const charged = payment.pricing.serviceFee ?? (hasMemo ? computeShare(gross, serviceFeeBps) : 0n)
  const service = charged < total ? charged : total
  const parts = [
    { type: 'ServiceFee', value: service },
    { type: 'ExtraFee', value: total - service },
  ] as const
  return { total, parts: parts.filter(({ value }) => value > 0n) }
}

/** Basis points of an amount, rounded down like the router. */
function computeShare(amount: bigint, bps: bigint): bigint {
  return (amount * bps) / wholeBps
}

/** The largest extra fee by default, in basis points of the gross amount: 1 %. */
export const defaultMaxExtraFeeBps = 100

/**
 * Builds the check that the extra fee is at most `maxBps` basis points of the gross amount, rounded down. The payer
 * chooses the extra fee, its receiver, the memo and the call, so the check assumes a service fee of 20 basis points.
 */
export function createExtraFeeCheck(maxBps: number = defaultMaxExtraFeeBps) {
  if (!Number.isInteger(maxBps) || maxBps < 0 || maxBps > wholeBps)
    throw new RangeError(`maxExtraFeeBps is ${maxBps}; pass a whole number from 0 to ${wholeBps}.`)
  return ({ gross, net }: Pick<StoredPayment['tokenOut'], 'gross' | 'net'>) =>
    gross - net <= computeShare(gross, serviceFeeBps) + computeShare(gross, BigInt(maxBps))
}

/** `amount`: decimal string in `currency`. */
export type PaymentInvoice = { readonly amount: string; readonly currency: string }

/**
 * The invoice of a payment; null: it is unknown. Anybody can deploy a token named USDC and use any contract as a price
 * feed. So the invoice is known only if the token is listed, and every feed has a pair and leads to that token. A
 * currency that verify rejects is never shown.
 */
export function deriveInvoice(payment: Pick<StoredPayment, 'tokenOut' | 'pricing'>): PaymentInvoice | null {
  const { tokenOut, pricing } = payment
  const { feeds, listedToken } = pricing
  const currency = feeds.length > 0 ? findConversionEnds(pricing)?.invoice : listedToken?.currency
  if (currency === undefined || !currencyCodePattern.test(currency)) return null
  const amount = computeInvoiceAmount(tokenOut, pricing)
  return amount === null ? null : { amount: formatUnits(amount, tokenOut.decimals), currency }
}

/** `<provider>:<BASE><QUOTE>`; empty unless listed feeds lead from the invoice's currency to the token. */
export function formatConversion(pricing: PricingFacts): string {
  const ends = findConversionEnds(pricing)
  if (ends === null) return ''
  const provider = pricing.feeds.some(({ contract }) => contract === null) ? 'external' : 'chainlink'
  return `${provider}:${ends.invoice}${ends.token}`
}

/** The currencies of the invoice and of the paid token; null unless the feeds form one path between them. */
function findConversionEnds({ listedToken, feeds }: PricingFacts) {
  const [first, second, ...more] = feeds
  if (listedToken === null || first?.pair == null || more.length > 0) return null
  const { base, quote } = first.pair
  const isPath =
    second === undefined || (first.use === 'multiply' && second.use === 'divide' && second.pair?.quote === quote)
  if (!isPath) return null
  const [invoice, directToken] = first.use === 'multiply' ? [base, quote] : [quote, base]
  const token = second?.pair?.base ?? directToken
  if (!currencyCodePattern.test(invoice) || !currencyCodePattern.test(token)) return null
  // Codes are in capital letters; symbols may not be, such as crvUSD.
  return token === listedToken.currency || token === listedToken.symbol.toUpperCase() ? { invoice, token } : null
}

function computeInvoiceAmount({ gross, decimals }: StoredPayment['tokenOut'], pricing: PricingFacts): bigint | null {
  const { feeds, calledAmount } = pricing
  if (feeds.length === 0) return gross
  if (calledAmount !== null) return calledAmount
  const range = invertConversion(gross, feeds)
  return range && findRoundestAmount(range, decimals)
}
