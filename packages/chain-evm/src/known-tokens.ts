/**
 * Tokens that merchants are paid in, and their currencies. Facts from the npm package \@yodlpay/tokenlists 0.8.40, MIT.
 * Anybody can deploy a token named USDC, so only chain and address identify a token.
 * @module
 */
import { tokensByChain } from './known-tokens.generated.js'

/** A token that is known by its address. */
export interface KnownToken {
  /** Contract address; `0xeeee…eeee` is the native token. */
  readonly address: string
  readonly symbol: string
  /** The currency of one token, such as `USD`; otherwise its own or the native symbol. */
  readonly currency: string
}

const parsed = new Map<number, readonly KnownToken[]>()

/** The known tokens of a chain, by address; none for a chain that is not in the list. */
export function knownTokens(chainId: number): readonly KnownToken[] {
  const tokens = parsed.get(chainId) ?? parse(Object.hasOwn(tokensByChain, chainId) ? tokensByChain[chainId] : '')
  parsed.set(chainId, tokens)
  return tokens
}

function parse(list = ''): KnownToken[] {
  return list.split(' ').flatMap((entry) => {
    const [address, symbol, currency = symbol] = entry.split(':')
    if (symbol === undefined || currency === undefined) return []
    return [{ address: `0x${address}`, symbol, currency }]
  })
}
