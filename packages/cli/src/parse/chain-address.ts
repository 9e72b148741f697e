/** Addresses on one chain on the command line. Source: INTERFACE 2.4 (CoinConfig, `defaultAddress`). @module */
import { parseAddress } from './address.js'
import { parseChainId } from './chain-id.js'

/** An address on one chain. */
export interface ChainAddress {
  readonly chainId: number
  /** 0x and 40 lowercase hex digits. */
  readonly address: string
}

/**
 * Reads `<chainId>:0x<address>`, and adds it to what was given before.
 * @throws InvalidArgumentError When the text is anything else.
 */
export function parseChainAddress(text: string, before: readonly ChainAddress[] = []): readonly ChainAddress[] {
  const colon = text.indexOf(':')
  const chainId = parseChainId(text.slice(0, Math.max(colon, 0)), 'Expected a chain and an address, such as 137:0x….')
  return [...before, { chainId, address: parseAddress(text.slice(colon + 1)) }]
}
