/** Accepted tokens on the command line. Source: INTERFACE 2.4 (CoinConfig). @module */
import { InvalidArgumentError } from 'commander'
import { parseChainId } from './chain-id.js'

/** Tokens that are accepted on one chain. */
export interface AcceptedTokens {
  readonly chainId: number
  /** As the tokens spell them. */
  readonly symbols: readonly string[]
}

const expected = 'Expected a chain and the symbols of tokens, such as 137:USDC,USDT.'

/**
 * Reads `<chainId>:<SYMBOL>[,<SYMBOL>…]`, and adds it to what was given before.
 * @throws InvalidArgumentError When the text is anything else, or names a token twice.
 */
export function parseAcceptedTokens(text: string, before: readonly AcceptedTokens[] = []): readonly AcceptedTokens[] {
  const colon = text.indexOf(':')
  const chainId = parseChainId(text.slice(0, Math.max(colon, 0)), expected)
  const symbols = text.slice(colon + 1).split(',')
  if (symbols.some((symbol) => !/^[^\s:]+$/.test(symbol))) throw new InvalidArgumentError(expected)
  if (new Set(symbols).size < symbols.length) throw new InvalidArgumentError('It names a token twice.')
  return [...before, { chainId, symbols }]
}
