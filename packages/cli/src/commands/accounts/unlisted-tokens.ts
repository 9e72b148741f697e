/** Warns of symbols that name no token, so that a mistyped one is not found by a customer. Source: INTERFACE 2.4 (CoinConfig). @module */
import type { Config } from '@payment-integration/server'
import type { LinkConfig } from './link-config.js'

/**
 * A sentence for each symbol without an address that is no token of its chain: neither known, nor the native one, nor in
 * `PI_TOKENS_<chainId>`. Letters count as they are, as they do when a payment is verified.
 */
export async function unlistedTokens({ coins }: LinkConfig, chains: Config['chains']): Promise<string[]> {
  const { knownTokens, nativeToken } = await import('@payment-integration/chain-evm')
  return coins.flatMap(({ chainId, tokens }) => {
    const configured = chains.find((chain) => chain.chainId === chainId)?.tokens ?? []
    const listed = [...knownTokens(chainId), ...configured, nativeToken(chainId, undefined)].map(({ symbol }) => symbol)
    return tokens
      .filter(({ symbol, address }) => address === undefined && !listed.includes(symbol))
      .map(
        ({ symbol }) =>
          `Warning: ${chainId}:${symbol} is no token that is known or configured here, so no payment in it can be verified. ` +
          `Correct the symbol, or list the token in PI_TOKENS_${chainId}, for the server too.`,
      )
  })
}
