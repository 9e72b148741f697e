/** Warns of symbols that name no token, so that a mistyped one is not found by a customer. Source: INTERFACE 2.4 (CoinConfig). @module */
import type { Config } from '@payment-integration/server/service'
import type { LinkConfig } from './link-config.js'

/**
 * A sentence for each symbol without an address that is no token of its chain: neither known, nor the native one, nor in
 * `PI_TOKENS_<chainId>`, which stands in place of what is known of an address. Letters count as they are, as they do
 * when a payment is verified.
 */
export async function unlistedTokens({ coins }: LinkConfig, chains: Config['chains']): Promise<string[]> {
  const { nativeToken } = await import('@payment-integration/chain-evm')
  const { listedTokens } = await import('@payment-integration/server/service')
  return coins.flatMap(({ chainId, tokens }) => {
    const chain = chains.find((each) => each.chainId === chainId) ?? { chainId, tokens: [] }
    // A listed token at the native address comes last, and counts.
    const known = [nativeToken(chainId, undefined), ...listedTokens(chain)]
    const listed = [...new Map(known.map(({ address: at, symbol }) => [at, symbol])).values()]
    return tokens
      .filter(({ symbol, address }) => address === undefined && !listed.includes(symbol))
      .map(
        ({ symbol }) =>
          `Warning: ${chainId}:${symbol} is no token that is known or configured here, so no payment in it can be verified. ` +
          `Correct the symbol, or list the token in PI_TOKENS_${chainId}, for the server too.`,
      )
  })
}
