/**
 * What the chain says about a payment, before any state. Source: docs/interface.md 2.1, docs/decisions/version.md.
 * @module
 */

/** A token amount as the chain has it: base units and the token's decimals. Formatting happens when it is read. */
export interface TokenFacts {
  /** Token address, lowercased. */
  readonly address: string
  /** Null when the token answers no `symbol()`. */
  readonly symbol: string | null
  /** 0 when the token answers no `decimals()`. */
  readonly decimals: number
}

/** One step of a conversion from the invoice currency to the token. Source: docs/interface.md 2.4 (priceFeeds). */
export interface PriceFeedFacts {
  /**
   * How the router used the rate: `multiply` leads from the pair's base to its quote, `divide` from its quote to its
   * base. Each step is rounded down.
   */
  readonly use: 'multiply' | 'divide'
  /** Feed contract, lowercased; null for a rate that came signed from outside the chain. */
  readonly contract: string | null
  /**
   * What the rate is of; null when the feed is on no list, or nothing shows that the router converted with this rate:
   * anybody can write a feed, and make routers emit a conversion that never was.
   */
  readonly pair: { readonly base: string; readonly quote: string } | null
  /** The rate times 10^`decimals`, above 0. */
  readonly rate: bigint
  /** Those of the list; an assumption for a feed that is on none. */
  readonly decimals: number
}

/**
 * What a payment cost its payer, as far as the chain tells. Facts alone: what follows from them is decided when it is
 * read.
 */
export interface PricingFacts {
  /** The token paid out, as the list of known tokens has it by chain and address; null when it is not listed. */
  readonly listedToken: {
    readonly symbol: string
    /** What one token is worth one of, such as `USD`; its own name where it is worth nothing else, such as `ETH`. */
    readonly currency: string
  } | null
  /** The conversion, in order of use; empty when there was none. At most two steps. */
  readonly feeds: readonly PriceFeedFacts[]
  /**
   * The amount before the conversion, in units of 10^-decimals of the token, as the call to the router names it; null
   * when the payment was not made by such a call, or the call does not lead to the amount that was paid.
   */
  readonly calledAmount: bigint | null
  /** The service's part of the fees in base units, as the call tells it; null when it does not. */
  readonly serviceFee: bigint | null
}

/** The facts of one payment, decoded from a block that is on the chain. */
export interface PaymentFacts {
  /** Destination chain. */
  readonly chainId: number
  /** Destination transaction, lowercased. */
  readonly txHash: string
  /** Position among the payments of its transaction, from 0, by log index: it survives being mined again elsewhere. */
  readonly ordinal: number
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: string
  /** Unix time of the block in milliseconds. */
  readonly blockTimestamp: number
  /** The listed router that emitted the payment, lowercased, and its contract version such as `0.8`. */
  readonly router: { readonly address: string; readonly version: string }
  /** Payer and payee, lowercased. */
  readonly sender: string
  readonly receiver: string
  /** The 32 bytes of the memo as 0x hex; they need not be text. */
  readonly memoHex: string
  /** The address-shaped code that the payment names, lowercased, or null. */
  readonly integrationAddress: string | null
  readonly source: { readonly chainId: number; readonly txHash: string }
  /** What the payer gave, in base units. */
  readonly tokenIn: TokenFacts & { readonly amount: bigint }
  /** What the payee was paid: gross includes fees, net does not; base units. */
  readonly tokenOut: TokenFacts & { readonly gross: bigint; readonly net: bigint }
  readonly pricing: PricingFacts
}
