/** The port to a family of router contracts. @module */
import type { TokenFacts } from '@payment-integration/core/ports'

/** A log of a listed router. Hex is lowercase. */
export interface RouterLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly txHash: string
  /** Position of the transaction in its block; null if the node leaves it out. */
  readonly txIndex: number | null
  /** Position in the block, or on some chains in the transaction. */
  readonly logIndex: number
  /** Unix time of the block in milliseconds; null if the node leaves it out. */
  readonly blockTimestamp: number | null
}

/** A payment, as in its event. */
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
   * Evidence that the receiver was paid on this chain. `event`: the event alone. `transfer`: only with a Transfer log
   * of the token, because a bridge deposit emits the same event.
   */
  readonly provedBy: 'event' | 'transfer'
}

/** One rate of a conversion, as in its event. */
export interface ConversionStep {
  /** How the rate was used; `unknown` if the event does not show it. */
  readonly use: 'multiply' | 'divide' | 'unknown'
  /** Feed contract, lowercased; null for a signed rate from outside the chain. */
  readonly contract: string | null
  /** Hash of the currency code of a signed rate; null for a feed. */
  readonly codeHash: string | null
  /** Above 0. */
  readonly rate: bigint
}

/** A conversion from the invoice currency to the token, as in its event. */
export interface DecodedConversion {
  readonly kind: 'conversion'
  /** In order of use. */
  readonly steps: readonly ConversionStep[]
  /** Whether anybody can make the router emit it with any rate, so that it proves nothing by itself. */
  readonly isForgeable: boolean
}

/** A log of a listed router that is neither payment nor conversion. */
export interface MalformedLog {
  readonly kind: 'malformed'
  /** A phrase with the expected and the actual form. */
  readonly reason: string
}

/** A price feed in calldata: a contract, or a signed rate from outside the chain. Hex is lowercase. */
export type CalledFeed =
  | { readonly contract: string }
  | { readonly contract: null; readonly codeHex: string; readonly rate: bigint }

/** A paying call, as in its calldata. */
export interface RouterCall {
  /** Arguments that the payment's event repeats, which tie the call to its event. Null: not an argument. */
  readonly sender: string | null
  readonly receiver: string
  readonly token: string | null
  readonly memoHex: string
  /** The amount before the conversion, with the decimals of the token. */
  readonly amount: bigint
  /** The feed that multiplies and the feed that divides; null if they are malformed or ambiguous. */
  readonly feeds: readonly [CalledFeed | null, CalledFeed | null] | null
  /** The extra fee of the call: in basis points of the gross amount, or as a divisor of that amount. */
  readonly extraFee: { readonly bps: bigint } | { readonly divisor: bigint } | null
  /** An addition to the service's own fee, in basis points. */
  readonly convenienceFeeBps: bigint
  /** The token that the payer gives; in a swap with value, the wrapped native token. */
  readonly swap: { readonly token: string; readonly amountIn: bigint } | null
}

/** Decodes the events and calls of a family of routers. Methods never throw. */
export interface RouterDecoder {
  /** First topics of payment events, lowercase. */
  readonly paymentTopics: readonly string[]
  /** First topics of conversion events, lowercase. */
  readonly conversionTopics: readonly string[]
  /** @param version - A contract version, such as `0.8`. */
  supportsVersion(version: string): boolean
  /** Decodes a log whose first topic is in one of the two lists, from a router of the version. */
  decode(log: RouterLog, version: string): DecodedPayment | DecodedConversion | MalformedLog
  /** Returns the lowercased integration address in calldata, or null. */
  parseIntegrationAddress(calldata: string): string | null
  /** Parses a call to a router of the version; null for a call that does not pay. */
  parseCall(calldata: string, version: string): RouterCall | null
}

/** The native token in router events. */
export const nativeTokenAddress = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** By chain id, as in \@yodlpay/tokenlists 0.8.40; 31337 is a development chain. */
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

/** The native token of a chain, with 18 decimals, for a decoder of your own. Its symbol is null if unknown. */
export function getNativeToken(chainId: number): TokenFacts {
  return { address: nativeTokenAddress, symbol: symbols[chainId] ?? null, decimals: 18 }
}
