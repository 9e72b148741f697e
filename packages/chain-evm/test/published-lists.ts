/** The published lists from which the known tokens and price feeds are generated. @module */
import { createRequire } from 'node:module'

interface PublishedFeed {
  readonly chainId: number
  readonly name: string
  readonly address?: string
  readonly input?: string
  readonly output?: string
}

interface PublishedChain {
  readonly chainId: number
  readonly nativeTokenName: string
}

const read = createRequire(import.meta.url)

export const publishedFeeds: readonly PublishedFeed[] = read('@yodlpay/tokenlists/dist/pricefeeds.json')
export const publishedChains: readonly PublishedChain[] = read('@yodlpay/tokenlists/dist/chainlist-v1.json').chains
