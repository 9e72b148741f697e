/** The native token of a chain, as router events name it. @module */
import type { TokenFacts } from '@payment-integration/core/ports'

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
