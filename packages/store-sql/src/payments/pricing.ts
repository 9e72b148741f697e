/** Formats and parses the pricing facts of a payment. @module */
import type { PriceFeedFacts, PricingFacts } from '@payment-integration/core/ports'
import { remember } from '../internal/remember.js'
import { pack, unpack } from '../internal/values.js'

/** The text. Large integers are decimal digits, which JSON numbers would round. */
type PricingText = readonly [
  listedToken: readonly [symbol: string, currency: string] | null,
  feeds: readonly FeedText[],
  calledAmount: string | null,
  serviceFee: string | null,
]
type FeedText = readonly [
  use: PriceFeedFacts['use'],
  contract: string | null,
  pair: readonly [base: string, quote: string] | null,
  rate: string,
  decimals: number,
]

/** Facts as a JSON array, or null when none is known. Equal facts give equal text. */
export function packPricing({ listedToken, feeds, calledAmount, serviceFee }: PricingFacts): string | null {
  if (listedToken === null && feeds.length === 0 && calledAmount === null && serviceFee === null) return null
  const text: PricingText = [
    listedToken && [listedToken.symbol, listedToken.currency],
    feeds.map(({ use, contract, pair, rate, decimals }) => [
      use,
      contract,
      pair && [pair.base, pair.quote],
      rate.toString(),
      decimals,
    ]),
    calledAmount?.toString() ?? null,
    serviceFee?.toString() ?? null,
  ]
  return pack(text)
}

const unknown: PricingFacts = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }
const readPricing: (text: string) => PricingFacts = remember(parsePricing)

/** The facts of a text of {@link packPricing}. */
export const unpackPricing = (text: string | null): PricingFacts => (text === null ? unknown : readPricing(text))

function parsePricing(text: string): PricingFacts {
  const [listedToken, feeds, calledAmount, serviceFee] = unpack<PricingText>(text)
  return {
    listedToken: listedToken && { symbol: listedToken[0], currency: listedToken[1] },
    feeds: feeds.map(([use, contract, pair, rate, decimals]) => ({
      use,
      contract,
      pair: pair && { base: pair[0], quote: pair[1] },
      rate: BigInt(rate),
      decimals,
    })),
    calledAmount: calledAmount === null ? null : BigInt(calledAmount),
    serviceFee: serviceFee === null ? null : BigInt(serviceFee),
  }
}
