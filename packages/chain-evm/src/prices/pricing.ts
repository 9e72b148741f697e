/** Prices a payment with the trusted tokens and price feeds. Source: docs/interface.md 2.4. @module */
import { currencyCodePattern } from '@payment-integration/contract'
import { assertWhole, convertAmount } from '@payment-integration/core/internal'
import type { PriceFeedFacts, PricingFacts } from '@payment-integration/core/ports'
import type { PaidConversion, PaidStep } from '../decode/pair-conversions.js'
import { computeServiceFee } from '../decode/router-call.js'
import { type DecodedPayment, nativeTokenAddress, type RouterCall } from '../decode/router-decoder.js'
import { hashText } from '../proof/keccak.js'
import { parseAddress } from '../rpc/hex.js'
import { fiatCodes, priceFeedsByChain } from './known-price-feeds.generated.js'
import { tokensByChain } from './known-tokens.generated.js'

// The known tokens and price feeds are facts from the npm package @yodlpay/tokenlists 0.8.40, MIT.

/** A trusted token, identified by chain and address: anybody can deploy a token named USDC. */
export interface KnownToken {
  /** Contract address; `0xeeee…eeee` is the native token. */
  readonly address: string
  readonly symbol: string
  /**
   * The currency to which it is pegged one to one, such as `USD`. Without a peg, its own symbol; for a wrapped native
   * token, the native symbol, such as `ETH` for WETH.
   */
  readonly currency: string
}

/** Splits the entries of a chain in a generated list into their fields. */
function splitEntries(entries: string | undefined): readonly (readonly string[])[] {
  return entries?.split(' ').map((entry) => entry.split(':')) ?? []
}

/** The known tokens of a chain, the default of `tokens` of `createEvmChain`; empty for an unknown chain. */
export function knownTokens(chainId: number): readonly KnownToken[] {
  const entries = splitEntries(tokensByChain[chainId])
  return entries.map(([address, symbol = '', currency = symbol]) => ({ address: `0x${address}`, symbol, currency }))
}

/** A price feed: the price of one unit of `base` in `quote`. */
export interface KnownPriceFeed {
  /** Contract address. */
  readonly address: string
  /** A currency code, such as `CHF`. */
  readonly base: string
  /** A currency code, such as `USD`. */
  readonly quote: string
  /** The feed answers the price times 10^decimals. */
  readonly decimals: number
}

/** Codes of the fiat currencies that invoices may have. */
export const fiatCurrencies: readonly string[] = fiatCodes.split(' ')

/** The known price feeds of a chain, the default of `priceFeeds` of `createEvmChain`; empty for an unknown chain. */
export function knownPriceFeeds(chainId: number): readonly KnownPriceFeed[] {
  return splitEntries(priceFeedsByChain[chainId]).map(([address, base = '', quote = '', decimals]) => {
    return { address: `0x${address}`, base, quote, decimals: Number(decimals) }
  })
}

/** The trusted tokens and feeds. Addresses and hashes are lowercase. */
export type PriceLists = ReturnType<typeof createPriceLists>

/** The largest `uint8`, which is the type of `decimals` in tokens and feeds. */
const maxDecimals = 255

/**
 * Validates and indexes the lists.
 * @param nativeSymbol - Symbol and currency of the native token where `tokens` does not list it; null if unknown.
 * @throws {TypeError | RangeError} On a wrong entry, and on two entries that contradict each other.
 */
export function createPriceLists(
  tokens: readonly KnownToken[],
  priceFeeds: readonly KnownPriceFeed[],
  nativeSymbol: string | null,
) {
  const tokensByAddress = indexByAddress('token', tokens, ({ address, symbol, currency }) => {
    if (typeof symbol !== 'string' || symbol === '')
      throw new TypeError(`The symbol of token ${address} is ${JSON.stringify(symbol)}; pass text such as "USDC".`)
    checkCurrencyCode(`The currency of token ${address}`, currency)
    return `${symbol}, worth ${currency}`
  })
  const feedsByAddress = indexByAddress('price feed', priceFeeds, ({ address, base, quote, decimals }) => {
    checkCurrencyCode(`The base of price feed ${address}`, base)
    checkCurrencyCode(`The quote of price feed ${address}`, quote)
    assertWhole(`decimals of price feed ${address}`, decimals, 0)
    if (decimals > maxDecimals)
      throw new RangeError(`decimals of price feed ${address} is ${decimals}; pass at most ${maxDecimals}.`)
    return `${base}/${quote} with ${decimals} decimals`
  })
  const nativeCode = nativeSymbol?.toUpperCase()
  if (nativeSymbol !== null && isCurrencyCode(nativeCode) && !tokensByAddress.has(nativeTokenAddress))
    tokensByAddress.set(nativeTokenAddress, { address: nativeTokenAddress, symbol: nativeSymbol, currency: nativeCode })
  let codes: ReadonlyMap<string, string> | undefined
  return {
    token: (address: string) => tokensByAddress.get(address) ?? null,
    feed: (contract: string) => feedsByAddress.get(contract) ?? null,
    /** The currency code with this keccak-256 hash, among fiat currencies and the bases of feeds. */
    code(hash: string): string | null {
      codes ??= new Map(
        [...fiatCurrencies, ...priceFeeds.map(({ base }) => base)].map((code) => [hashText(code), code]),
      )
      return codes.get(hash) ?? null
    },
  }
}

/** @param describe - Validates and describes an entry; entries of one address must have the same description. */
function indexByAddress<Entry extends { readonly address: string }>(
  kind: string,
  entries: readonly Entry[],
  describe: (entry: Entry) => string,
): Map<string, Entry> {
  const entriesByAddress = new Map<string, Entry>()
  for (const entry of entries) {
    const address = parseAddress(`The address of a ${kind}`, entry.address)
    const meaning = describe(entry)
    const former = entriesByAddress.get(address)
    if (former !== undefined && describe(former) !== meaning)
      throw new TypeError(
        `The ${kind} ${address} is listed as ${describe(former)} and as ${meaning}; keep the right one.`,
      )
    entriesByAddress.set(address, { ...entry, address })
  }
  return entriesByAddress
}

/** Whether a text has the form of a currency code. */
function isCurrencyCode(text: unknown): text is string {
  return typeof text === 'string' && currencyCodePattern.test(text)
}

function checkCurrencyCode(name: string, code: string): void {
  if (!isCurrencyCode(code))
    throw new TypeError(
      `${name} is ${JSON.stringify(code)}; pass 1 to 16 capital letters, digits and . + - _, such as "USD".`,
    )
}

/** Signed rates from outside the chain are in US dollars, with 18 decimals. */
const externalDecimals = 18
const externalQuote = 'USD'
/** The decimals of most feeds in US dollars, assumed for an unlisted feed. */
const usualDecimals = 8

/** The pricing of a payment whose receiver was not paid on this chain. */
export const unknownPricing: PricingFacts = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }

/**
 * Computes the pricing of a payment. A feed has a pair only if its rate is trusted: the router proved the conversion,
 * or a direct call without unlisted feeds explains the exact gross amount. (Some early routers of version 0.6 ignore a
 * lone signed rate, so a rate that changes no amount proves nothing.)
 * @param call - The direct call that made this payment, or null.
 */
export function computePricing(
  lists: PriceLists,
  payment: DecodedPayment,
  { steps, provedBy }: PaidConversion,
  call: RouterCall | null,
): PricingFacts {
  const { gross, net } = payment
  const token = lists.token(payment.token)
  const isListed = steps.every(({ contract }) => contract === null || lists.feed(contract) !== null)
  const feeds = steps.map((step) => toFeedFacts(lists, step, token))
  const explainsGross = call !== null && isListed && convertAmount(call.amount, feeds) === gross
  const provesRates = call?.amount !== gross || steps.every(({ contract }) => contract !== null)
  const isTrusted = provedBy === 'router' || (provedBy === 'call' && explainsGross && provesRates)
  return {
    listedToken: token && { symbol: token.symbol, currency: token.currency },
    // Without trust, an unknown use is not derived from the token.
    feeds: isTrusted ? feeds : steps.map((step) => ({ ...toFeedFacts(lists, step, null), pair: null })),
    calledAmount: isTrusted && explainsGross ? call.amount : null,
    serviceFee: call && computeServiceFee(call, gross, gross - net),
  }
}

function toFeedFacts(lists: PriceLists, step: PaidStep, token: KnownToken | null): PriceFeedFacts {
  const { contract, rate } = step
  const stepUse = step.use === 'divide' ? 'divide' : 'multiply'
  if (contract === null) {
    const base = findCurrencyCode(lists, step)
    const pair = base === null ? null : { base, quote: externalQuote }
    return { use: stepUse, contract, pair, rate, decimals: externalDecimals }
  }
  const feed = lists.feed(contract)
  if (feed === null) return { use: stepUse, contract, pair: null, rate, decimals: usualDecimals }
  const { base, quote, decimals } = feed
  // The token shows the use that the event does not: CHF/USD divides a payment in CHF and multiplies one in USD.
  const isOfToken =
    token !== null && [token.symbol, token.currency].some((name) => name.toLowerCase() === base.toLowerCase())
  const use = step.use === 'unknown' && isOfToken ? 'divide' : stepUse
  return { use, contract, pair: { base, quote }, rate, decimals }
}

/** The currency code of a signed rate: by its hash, or from the calldata whose hash was checked. */
function findCurrencyCode(lists: PriceLists, { codeHash, codeHex }: PaidStep): string | null {
  const listedCode = codeHash === null ? null : lists.code(codeHash)
  if (listedCode !== null || codeHex === null) return listedCode
  const text = Buffer.from(codeHex.slice(2), 'hex').toString('utf8')
  return isCurrencyCode(text) ? text : null
}
