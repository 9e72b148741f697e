/**
 * The facts of a payment on the chain, before any state. Source: docs/interface.md 2.1, docs/decisions/version.md.
 * @module
 */

/** A token as the chain describes it. Amounts are in base units and are formatted when they are read. */
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
   * How the router used the rate: `multiply` converts the pair's base to its quote, `divide` its quote to its base.
   * Each step is rounded down.
   */
  readonly use: 'multiply' | 'divide'
  /** Feed contract, lowercased; null for a signed rate from outside the chain. */
  readonly contract: string | null
  /**
   * The currencies of the rate. Null when the feed is not listed, or nothing proves that the router used this rate.
   * Anybody can deploy a feed, and make a router emit a conversion that never happened.
   */
  readonly pair: { readonly base: string; readonly quote: string } | null
  /** The rate times 10^`decimals`, above 0. */
  readonly rate: bigint
  /** From the list of feeds; an assumption for a feed that is not listed. */
  readonly decimals: number
}

/**
 * The price of a payment, as far as the chain shows it. Invoice and fees are derived from it when they are read.
 */
export interface PricingFacts {
  /** The entry of the paid token in the list of known tokens, by chain and address; null when it is not listed. */
  readonly listedToken: {
    readonly symbol: string
    /** The currency that one token equals, such as `USD`; its own name where it equals no other, such as `ETH`. */
    readonly currency: string
  } | null
  /** The conversion, in order of use; empty when there was none. At most two steps. */
  readonly feeds: readonly PriceFeedFacts[]
  /**
   * The amount before the conversion in the call to the router, in units of 10^-decimals of the token. Null when there
   * was no such call, or the call does not lead to the paid amount.
   */
  readonly calledAmount: bigint | null
  /** The service's part of the fees in the call, in base units; null when the call does not name it. */
  readonly serviceFee: bigint | null
}

/** The facts of one payment, decoded from a block that is on the chain. */
export interface PaymentFacts {
  /** Destination chain. */
  readonly chainId: number
  /** Destination transaction, lowercased. */
  readonly txHash: string
  /** Position among the payments of its transaction, from 0, by log index. A reorganisation does not change it. */
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
  /** Paid by the payer, in base units. */
  readonly tokenIn: TokenFacts & { readonly amount: bigint }
  /** Received by the payee, in base units: gross includes fees, net does not. */
  readonly tokenOut: TokenFacts & { readonly gross: bigint; readonly net: bigint }
  readonly pricing: PricingFacts
}
