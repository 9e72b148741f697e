/** What the chain reader needs to know about the router's contracts; a router with other events brings its own. @module */

/** A log of a listed router, as the node answered it. Hex is lowercase. */
export interface RouterLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly txHash: string
  /** Position in the block. */
  readonly logIndex: number
  /** Unix time of the block in milliseconds, or null when the node does not put it on logs. */
  readonly blockTimestamp: number | null
}

/** A payment as its event tells it. */
export interface DecodedPayment {
  readonly kind: 'payment'
  /** Payer and payee, lowercased. The payer may be forged where the contract lets its caller name it. */
  readonly sender: string
  readonly receiver: string
  /** The token that the payee received, lowercased. */
  readonly token: string
  /** Base units. `net` is `gross` less all fees. */
  readonly gross: bigint
  readonly net: bigint
  /** 32 bytes as 0x hex. */
  readonly memoHex: string
}

/** A log that a listed router emitted and that is no payment. */
export interface MalformedLog {
  readonly kind: 'malformed'
  /** What was expected and what came, in a few words. */
  readonly reason: string
}

/** What a swap call says about the token that the payer gives. */
export interface SwapCall {
  /** The token the payer gives when the call carries no value, lowercased; with value it is the wrapped native token. */
  readonly token: string
  /** The most the payer gives, in base units of that token. */
  readonly amountIn: bigint
  /** Arguments that the payment's event repeats: they tie the call to its event. */
  readonly sender: string
  readonly receiver: string
  readonly memoHex: string
}

/** Reads the events and calls of a family of routers. */
export interface RouterDecoder {
  /** First topic of the payment event, lowercase. */
  readonly topic0: string
  /** Whether payments of this contract version, such as `0.8`, are read. */
  reads(version: string): boolean
  /** Reads a log whose first topic is `topic0`. It never throws. */
  decode(log: RouterLog): DecodedPayment | MalformedLog
  /** The integration address that the calldata names, lowercased, or null. It never throws. */
  integrationAddress(calldata: string): string | null
  /** What a call that swaps says, or null for any other call. It never throws. */
  swapCall(calldata: string): SwapCall | null
}
