/** What the chain says about a payment, before any state. Source: INTERFACE 2.1, DESIGN section 3. @module */

/** A token amount as the chain has it: base units and the token's decimals. Formatting happens when it is read. */
export interface TokenFacts {
  /** Token address, lowercased. */
  readonly address: string
  /** Null when the token answers no `symbol()`. */
  readonly symbol: string | null
  /** 0 when the token answers no `decimals()`. */
  readonly decimals: number
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
}
