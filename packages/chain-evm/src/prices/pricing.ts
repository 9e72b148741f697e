/** Prices a payment with the trusted tokens and price feeds. Source: docs/interface.md 2.4. @module */

import { currencyCodePattern } from '@payment-integration/contract'
import { assertWhole, convertAmount } from '@payment-integration/core/internal'
import type { PriceFeedFacts, PricingFacts } from '@payment-integration/core/ports'
import type { PaidConversion, PaidStep } from '../decode/conversions.js'
import { computeServiceFee } from '../decode/router-call.js'
import { type DecodedPayment, nativeTokenAddress, type RouterCall } from '../decode/router-decoder.js'
import { hashText } from '../proof/keccak.js'
import { toAddress } from '../rpc/hex.js'
import { fiatCodes, priceFeedsByChain } from './known-price-feeds.generated.js'
import { tokensByChain } from './known-tokens.generated.js'

// The known tokens and price feeds are facts from the npm package @yodlpay/tokenlists 0.8.40, MIT.

/** A token that is known by chain and address alone: anybody can deploy a token named USDC. */
export interface KnownToken {
  /** Contract address; `0xeeee…eeee` is the native token. */
  readonly address: string
  readonly symbol: string
  /** The currency of one token, such as `USD`; otherwise its own or the native symbol. */
  readonly currency: string
}

const parsedTokens = new Map<number, readonly KnownToken[]>()

/** The known tokens of a chain, by address; none for a chain that is not in the list. */
export function knownTokens(chainId: number): readonly KnownToken[] {
  const tokens =
    parsedTokens.get(chainId) ?? parseToken(Object.hasOwn(tokensByChain, chainId) ? tokensByChain[chainId] : '')
  parsedTokens.set(chainId, tokens)
  return tokens
}

function parseToken(list = ''): KnownToken[] {
  return list.split(' ').flatMap((entry) => {
    const [address, symbol, currency = symbol] = entry.split(':')
    if (symbol === undefined || currency === undefined) return []
    return [{ address: `0x${address}`, symbol, currency }]
  })
}

/** A price feed: the price of one unit of `base` in `quote`. */
export interface KnownPriceFeed {
  /** Contract address. */
  readonly address: string
  /** Currency codes, such as `CHF` and `USD`. */
  readonly base: string
  readonly quote: string
  /** The feed's answers are the price times 10^decimals. */
  readonly decimals: number
}

/** Fiat currencies that invoices may have, as codes. */
export const fiatCurrencies: readonly string[] = fiatCodes.split(' ')

const parsedFeeds = new Map<number, readonly KnownPriceFeed[]>()

/** The known price feeds of a chain, by address; none for a chain that is not in the list. */
export function knownPriceFeeds(chainId: number): readonly KnownPriceFeed[] {
  const feeds =
    parsedFeeds.get(chainId) ??
    parsePriceFeed(Object.hasOwn(priceFeedsByChain, chainId) ? priceFeedsByChain[chainId] : '')
  parsedFeeds.set(chainId, feeds)
  return feeds
}

function parsePriceFeed(list = ''): KnownPriceFeed[] {
  return list.split(' ').flatMap((entry) => {
    const [address, base, quote, decimals] = entry.split(':')
    if (base === undefined || quote === undefined) return []
    return [{ address: `0x${address}`, base, quote, decimals: Number(decimals) }]
  })
}

/** Answers what a token or feed is. Addresses and hashes are lowercase. */
export interface PriceLists {
  token(address: string): KnownToken | null
  feed(contract: string): KnownPriceFeed | null
  /** The currency code with this keccak-256 hash, among fiat currencies and what the feeds are of. */
  code(hash: string): string | null
}

/** Largest number of decimals that a feed may have: what an ERC-20 token or a feed can say. */
const maxDecimals = 255

/**
 * Makes the lists.
 * @param nativeSymbol - The native token, worth itself, when `tokens` does not list it; null when it is not known
 * either.
 * @throws {TypeError | RangeError} On an entry that is wrong, and on two entries that contradict each other.
 */
export function createPriceLists(
  tokens: readonly KnownToken[],
  priceFeeds: readonly KnownPriceFeed[],
  nativeSymbol: string | null,
): PriceLists {
  const tokensByAddress = indexByAddress('token', tokens, ({ address, symbol, currency }) => {
    if (typeof symbol !== 'string' || symbol === '') throw new TypeError(`The symbol of token ${address} is empty.`)
    checkCurrencyCode(`The currency of token ${address}`, currency)
    return `${symbol}, worth ${currency}`
  })
  const feedsByAddress = indexByAddress('price feed', priceFeeds, ({ address, base, quote, decimals }) => {
    checkCurrencyCode(`The base of price feed ${address}`, base)
    checkCurrencyCode(`The quote of price feed ${address}`, quote)
    assertWhole(`decimals of price feed ${address}`, decimals, 0)
    if (decimals > maxDecimals) throw new RangeError(`decimals of price feed ${address} is above ${maxDecimals}.`)
    return `${base}/${quote} with ${decimals} decimals`
  })
  const nativeCode = nativeSymbol?.toUpperCase()
  if (nativeSymbol !== null && isCurrencyCode(nativeCode) && !tokensByAddress.has(nativeTokenAddress))
    tokensByAddress.set(nativeTokenAddress, { address: nativeTokenAddress, symbol: nativeSymbol, currency: nativeCode })
  let codes: ReadonlyMap<string, string> | undefined
  return {
    token: (address) => tokensByAddress.get(address) ?? null,
    feed: (contract) => feedsByAddress.get(contract) ?? null,
    code(hash) {
      codes ??= new Map(
        [...fiatCurrencies, ...priceFeeds.map(({ base }) => base)].map((code) => [hashText(code), code]),
      )
      return codes.get(hash) ?? null
    },
  }
}

/** @param describe - Checks an entry and says what it means: two entries for one address must mean the same. */
function indexByAddress<Entry extends { readonly address: string }>(
  kind: string,
  entries: readonly Entry[],
  describe: (entry: Entry) => string,
): Map<string, Entry> {
  const known = new Map<string, Entry>()
  for (const entry of entries) {
    const address = toAddress(entry.address)
    if (address === null)
      throw new TypeError(`The address of a ${kind} is ${JSON.stringify(entry.address)}; pass 0x and 40 hex digits.`)
    const meaning = describe(entry)
    const former = known.get(address)
    if (former !== undefined && describe(former) !== meaning)
      throw new TypeError(
        `The ${kind} ${address} is listed as ${describe(former)} and as ${meaning}; keep the right one.`,
      )
    known.set(address, { ...entry, address })
  }
  return known
}

/** Whether a text can be a currency of the legacy API. */
function isCurrencyCode(text: unknown): text is string {
  return typeof text === 'string' && currencyCodePattern.test(text)
}

function checkCurrencyCode(name: string, code: string): void {
  if (!isCurrencyCode(code))
    throw new TypeError(
      `${name} is ${JSON.stringify(code)}; pass 1 to 16 capital letters, digits and . + - _, such as "USD".`,
    )
}

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
  const isConverted = call?.amount !== gross || steps.every(({ contract }) => contract !== null)
  const isTrusted = provedBy === 'router' || (provedBy === 'call' && explainsGross && isConverted)
  return {
    listedToken: token && { symbol: token.symbol, currency: token.currency },
    feeds: isTrusted ? feeds : steps.map((step) => toUnknownFeed(lists, step)),
    calledAmount: isTrusted && explainsGross ? call.amount : null,
    serviceFee: call && computeServiceFee(call, gross, gross - net),
  }
}

function toFeedFacts(lists: PriceLists, step: PaidStep, token: KnownToken | null): PriceFeedFacts {
  const { contract, rate } = step
  if (contract === null) {
    const base = findCurrencyCode(lists, step)
    const pair = base === null ? null : { base, quote: externalQuote }
    return { use: getUse(step), contract, pair, rate, decimals: externalDecimals }
  }
  const feed = lists.feed(contract)
  if (feed === null) return toUnknownFeed(lists, step)
  const { base, quote, decimals } = feed
  // A payment in CHF is divided by CHF/USD and one in USD multiplied by it: the token tells what the event does not.
  const isOfToken = token !== null && [token.symbol, token.currency].some((name) => isSameCode(name, base))
  const use = step.use === 'unsaid' && isOfToken ? 'divide' : getUse(step)
  return { use, contract, pair: { base, quote }, rate, decimals }
}

function toUnknownFeed(lists: PriceLists, step: PaidStep): PriceFeedFacts {
  const { contract, rate } = step
  const decimals = contract === null ? externalDecimals : (lists.feed(contract)?.decimals ?? usualDecimals)
  return { use: getUse(step), contract, pair: null, rate, decimals }
}

function getUse({ use }: PaidStep): PriceFeedFacts['use'] {
  return use === 'divide' ? 'divide' : 'multiply'
}

/** The code of a rate from outside the chain: known by its hash, or named by the call that the hash confirms. */
function findCurrencyCode(lists: PriceLists, { codeHash, codeHex }: PaidStep): string | null {
  const known = codeHash === null ? null : lists.code(codeHash)
  if (known !== null || codeHex === null) return known
  const text = Buffer.from(codeHex.slice(2), 'hex').toString('utf8')
  return isCurrencyCode(text) ? text : null
}

function isSameCode(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
