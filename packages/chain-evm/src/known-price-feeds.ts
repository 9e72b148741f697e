/**
 * Chainlink price feeds and their currencies. Facts from the npm package \@yodlpay/tokenlists 0.8.40, MIT.
 * Entries without base, quote or address, and contradictory ones, are left out.
 * @module
 */
import { fiatCodes, priceFeedsByChain } from './known-price-feeds.generated.js'

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

const parsed = new Map<number, readonly KnownPriceFeed[]>()

/** The known price feeds of a chain, by address; none for a chain that is not in the list. */
export function knownPriceFeeds(chainId: number): readonly KnownPriceFeed[] {
  const feeds =
    parsed.get(chainId) ?? parse(Object.hasOwn(priceFeedsByChain, chainId) ? priceFeedsByChain[chainId] : '')
  parsed.set(chainId, feeds)
  return feeds
}

function parse(list = ''): KnownPriceFeed[] {
  return list.split(' ').flatMap((entry) => {
    const [address, base, quote, decimals] = entry.split(':')
    if (base === undefined || quote === undefined) return []
    return [{ address: `0x${address}`, base, quote, decimals: Number(decimals) }]
  })
}
