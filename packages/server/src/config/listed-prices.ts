/** Merges the known tokens and price feeds with the configured ones. @module */
import type * as ChainEvm from '@payment-integration/chain-evm'
import type { ChainConfig, PriceFeedConfig, TokenConfig } from './config.js'

/** A known token or price feed that the configuration overrides. */
export interface PriceOverride {
  readonly chainId: number
  readonly kind: 'token' | 'price feed'
  readonly address: string
  /** The known values, written as in the variable, without the address. */
  readonly known: string
  /** The configured values, likewise. */
  readonly configured: string
}

/** The known entries with the configured ones: a configured entry replaces the known one with its address. */
export function mergeKnown<Entry extends Addressed>(
  known: readonly Entry[],
  configured: readonly Entry[],
): readonly Entry[] {
  const addresses = new Set(configured.map(({ address }) => address))
  return [...known.filter(({ address }) => !addresses.has(address)), ...configured]
}

/** Every known token and price feed that the configuration overrides, in its order. */
export function priceOverrides(
  { knownTokens, knownPriceFeeds }: Pick<typeof ChainEvm, 'knownTokens' | 'knownPriceFeeds'>,
  chains: readonly ChainConfig[],
): readonly PriceOverride[] {
  return chains.flatMap(({ chainId, tokens, priceFeeds }) => [
    ...changed(knownTokens(chainId), tokens, tokenText).map((each) => ({ chainId, kind: 'token' as const, ...each })),
    ...changed(knownPriceFeeds(chainId), priceFeeds, priceFeedText).map((each) => ({
      chainId,
      kind: 'price feed' as const,
      ...each,
    })),
  ])
}

interface Addressed {
  readonly address: string
}

const tokenText = ({ symbol, currency }: TokenConfig) => `${symbol}:${currency}`
const priceFeedText = ({ base, quote, decimals }: PriceFeedConfig) => `${base}:${quote}:${decimals}`

function changed<Entry extends Addressed>(
  known: readonly Entry[],
  configured: readonly Entry[],
  textOf: (entry: Entry) => string,
) {
  return configured.flatMap((entry) => {
    const { address } = entry
    const former = known.find((each) => each.address === address)
    if (former === undefined || textOf(former) === textOf(entry)) return []
    return [{ address, known: textOf(former), configured: textOf(entry) }]
  })
}
