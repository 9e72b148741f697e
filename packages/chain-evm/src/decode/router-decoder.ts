/** The port to a router's contracts; a router with other events brings its own decoder. @module */
import type { TokenFacts } from '@payment-integration/core/ports'

/** A log of a listed router, as the node answered it. Hex is lowercase. */
export interface RouterLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly txHash: string
  /** Position of the transaction in its block, or null when the node does not put it on logs. */
  readonly txIndex: number | null
  /** Position in the block; some chains count within the transaction. */
  readonly logIndex: number
  /** Unix time of the block in milliseconds, or null when the node does not put it on logs. */
  readonly blockTimestamp: number | null
}

/** A payment as in its event. */
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
  /**
   * Evidence that the receiver got the payment on this chain. `event`: the event alone.
   * `transfer`: a Transfer log of the token beside it, because a bridge deposit emits the same event.
   */
  readonly provedBy: 'event' | 'transfer'
}

/** One rate of a conversion, as in its event. */
export interface ConversionStep {
  /** How the rate was used; `unsaid` when the event is the same for both. */
  readonly use: 'multiply' | 'divide' | 'unsaid'
  /** Feed contract, lowercased; null for a rate that came signed from outside the chain. */
  readonly contract: string | null
  /** Hash of the currency code of a rate from outside the chain; null for a feed. */
  readonly codeHash: string | null
  /** Above 0. */
  readonly rate: bigint
}

/** A conversion from the invoice currency to the token, as in its event. */
export interface DecodedConversion {
  readonly kind: 'conversion'
  /** In order of use. */
  readonly steps: readonly ConversionStep[]
  /** True when anybody can make the router emit it with any rate, so that it proves nothing by itself. */
  readonly isForgeable: boolean
}

/** A log that a listed router emitted and that is neither. */
export interface MalformedLog {
  readonly kind: 'malformed'
  /** The expected and the actual form, in a few words. */
  readonly reason: string
}

/** A price feed as a call names it: a contract, or a signed rate from outside the chain. Hex is lowercase. */
export type CalledFeed =
  | { readonly contract: string }
  | { readonly contract: null; readonly codeHex: string; readonly rate: bigint }

/** A call of the router that pays, as in its calldata. */
export interface RouterCall {
  /** Arguments that the payment's event repeats: they tie the call to its event. Null: not an argument. */
  readonly sender: string | null
  readonly receiver: string
  readonly token: string | null
  readonly memoHex: string
  /** The amount before the conversion, in units of the token. */
  readonly amount: bigint
  /** The feed that multiplies and the one that divides; null when they cannot be read. */
  readonly feeds: readonly [CalledFeed | null, CalledFeed | null] | null
  /** The extra fee of the call: in basis points of the gross amount, or as a divisor of it. */
  readonly extraFee: { readonly bps: bigint } | { readonly divisor: bigint } | null
  /** An addition to the service's own fee, in basis points. */
  readonly convenienceFeeBps: bigint
  /** The token that the payer gives in a swap without value. (With value it is the wrapped native token.) */
  readonly swap: { readonly token: string; readonly amountIn: bigint } | null
}

/** Reads the events and calls of a family of routers. */
export interface RouterDecoder {
  /** First topics of payment events, lowercase. */
  readonly paymentTopics: readonly string[]
  /** First topics of conversion events, lowercase. */
  readonly conversionTopics: readonly string[]
  /** Whether payments of this contract version, such as `0.8`, are read. */
  supportsVersion(version: string): boolean
  /** Reads a log whose first topic is one of the two lists, from a router of the version. It never throws. */
  decode(log: RouterLog, version: string): DecodedPayment | DecodedConversion | MalformedLog
  /** The integration address that the calldata names, lowercased, or null. It never throws. */
  parseIntegrationAddress(calldata: string): string | null
  /** Decodes a call to a router of the version; null for a call that does not pay. It never throws. */
  parseCall(calldata: string, version: string): RouterCall | null
}

/** The address that router events use for the native token, lowercased. */
export const nativeTokenAddress = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** Symbols by chain id; names as in \@yodlpay/tokenlists 0.8.40, and 31337 for development chains. */
const symbols: Readonly<Record<number, string>> = {
  1: 'ETH',
  10: 'ETH',
  56: 'BNB',
  100: 'xDAI',
  137: 'POL',
  8453: 'ETH',
  31337: 'ETH',
  42161: 'ETH',
}

/** The native token of a chain, with 18 decimals. Without a symbol, in the table or given, its symbol is null. */
export function nativeToken(chainId: number, symbol: string | undefined): TokenFacts {
  return { address: nativeTokenAddress, symbol: symbol ?? symbols[chainId] ?? null, decimals: 18 }
}
