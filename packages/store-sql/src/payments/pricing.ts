/** Formats and parses the pricing facts of a payment. @module */
import type { PriceFeedFacts, PricingFacts } from '@payment-integration/core/ports'
import { remember } from '../internal/remember.js'
import { pack, unpack } from '../internal/values.js'

/** The text: large integers are decimal digits, which JSON numbers would round. */
interface PricingText extends Pick<PricingFacts, 'listedToken'> {
  readonly feeds: readonly (Omit<PriceFeedFacts, 'rate'> & { readonly rate: string })[]
  readonly calledAmount: string | null
  readonly serviceFee: string | null
}

/** Facts as text: equal facts give equal text, in any order of their fields. */
export function packPricing({ listedToken, feeds, calledAmount, serviceFee }: PricingFacts): string {
  const text: PricingText = {
    listedToken: listedToken && { symbol: listedToken.symbol, currency: listedToken.currency },
    feeds: feeds.map(({ use, contract, pair, rate, decimals }) => ({
      use,
      contract,
      pair: pair && { base: pair.base, quote: pair.quote },
      rate: rate.toString(),
      decimals,
    })),
    calledAmount: calledAmount?.toString() ?? null,
    serviceFee: serviceFee?.toString() ?? null,
  }
  return pack(text)
}

/** The facts of a text of {@link packPricing}. */
export const unpackPricing: (text: string) => PricingFacts = remember(readPricing)

function readPricing(text: string): PricingFacts {
  const { listedToken, feeds, calledAmount, serviceFee } = unpack<PricingText>(text)
  return {
    listedToken,
    // Field by field: a spread costs more than the rest of reading a payment.
    feeds: feeds.map(({ use, contract, pair, rate, decimals }) => ({
      use,
      contract,
      pair,
      rate: BigInt(rate),
      decimals,
    })),
    calledAmount: calledAmount === null ? null : BigInt(calledAmount),
    serviceFee: serviceFee === null ? null : BigInt(serviceFee),
  }
}
