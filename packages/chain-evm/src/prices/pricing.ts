/** Prices a payment from its event, its conversion and its call. Source: docs/interface.md 2.4. @module */
import { convertAmount } from '@payment-integration/core/internal'
import type { PriceFeedFacts, PricingFacts } from '@payment-integration/core/ports'
import type { PaidConversion, PaidStep } from '../decode/conversions.js'
import { serviceFeeOf } from '../decode/router-call.js'
import type { DecodedPayment, RouterCall } from '../decode/router-decoder.js'
import { isCode, type KnownToken, type PriceLists } from './price-lists.js'

/** Rates from outside the chain are signed with these decimals, in US dollars. */
const externalDecimals = 18
const externalQuote = 'USD'
/** Decimals of feeds in US dollars. Also shown for an unlisted feed, whose decimals only its author vouches for. */
const usualDecimals = 8

/** The pricing of a payment that its receiver did not get on this chain. */
export const unknownPricing: PricingFacts = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }

/**
 * The pricing of a payment.
 *
 * A feed has a pair only when its rate is trusted. The payer chooses the feeds in the calldata, so an unlisted feed may
 * be the payer's own contract. A conversion that anybody can emit is trusted when a direct call with its feeds leads to
 * exactly the paid amount. Some early routers of version 0.6 ignore a lone signed rate, so a rate that changes nothing
 * proves nothing.
 * @param call - The call sent straight to the router that made this payment, or null.
 */
export function pricingOf(
  lists: PriceLists,
  payment: DecodedPayment,
  { steps, shownBy }: PaidConversion,
  call: RouterCall | null,
): PricingFacts {
  const { gross, net } = payment
  const token = lists.token(payment.token)
  const isListed = steps.every(({ contract }) => contract === null || lists.feed(contract) !== null)
  const feeds = steps.map((step) => feedFacts(lists, step, token))
  const leadsToGross = call !== null && isListed && convertAmount(call.amount, feeds) === gross
  const changes = call?.amount !== gross || steps.every(({ contract }) => contract !== null)
  const isTrusted = shownBy === 'router' || (shownBy === 'call' && leadsToGross && changes)
  return {
    listedToken: token && { symbol: token.symbol, currency: token.currency },
    feeds: isTrusted ? feeds : steps.map((step) => unknownFeed(lists, step)),
    calledAmount: isTrusted && leadsToGross ? call.amount : null,
    serviceFee: call && serviceFeeOf(call, gross, gross - net),
  }
}

function feedFacts(lists: PriceLists, step: PaidStep, token: KnownToken | null): PriceFeedFacts {
  const { contract, rate } = step
  if (contract === null) {
    const base = codeOf(lists, step)
    const pair = base === null ? null : { base, quote: externalQuote }
    return { use: useOf(step), contract, pair, rate, decimals: externalDecimals }
  }
  const feed = lists.feed(contract)
  if (feed === null) return unknownFeed(lists, step)
  const { base, quote, decimals } = feed
  // A payment in CHF is divided by CHF/USD and one in USD multiplied by it: the token tells what the event does not.
  const isOfToken = token !== null && [token.symbol, token.currency].some((name) => sameCode(name, base))
  const use = step.use === 'unsaid' && isOfToken ? 'divide' : useOf(step)
  return { use, contract, pair: { base, quote }, rate, decimals }
}

function unknownFeed(lists: PriceLists, step: PaidStep): PriceFeedFacts {
  const { contract, rate } = step
  const decimals = contract === null ? externalDecimals : (lists.feed(contract)?.decimals ?? usualDecimals)
  return { use: useOf(step), contract, pair: null, rate, decimals }
}

function useOf({ use }: PaidStep): PriceFeedFacts['use'] {
  return use === 'divide' ? 'divide' : 'multiply'
}

/** The code of a rate from outside the chain: known by its hash, or named by the call that the hash confirms. */
function codeOf(lists: PriceLists, { codeHash, codeHex }: PaidStep): string | null {
  const known = codeHash === null ? null : lists.code(codeHash)
  if (known !== null || codeHex === null) return known
  const text = Buffer.from(codeHex.slice(2), 'hex').toString('utf8')
  return isCode(text) ? text : null
}

function sameCode(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
