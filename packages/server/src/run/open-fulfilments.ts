/** Opens the source of fulfilments of cross-chain payments. Source: docs/decisions/cross-chain.md. @module */
import {
  type AcrossFulfilmentSource,
  createAcrossFulfilmentSource,
  knownSpokePools,
} from '@payment-integration/chain-evm'
import type { Clock } from '@payment-integration/core/ports'
import type { ChainConfig } from '../config/config.js'
import { listedTokens } from '../config/listed-prices.js'

/**
 * The source over the configured chains with a known bridge and finality; null when there are none. It sends nothing
 * before its first call.
 */
export function openFulfilments(chains: readonly ChainConfig[], clock: Clock): AcrossFulfilmentSource | null {
  const destinations = chains.flatMap((chain) => {
    const { chainId, endpoints, confirmations, spokePools } = chain
    const [spokePool] = spokePools ?? knownSpokePools(chainId)
    if (confirmations === null || spokePool === undefined) return []
    return [[chainId, { endpoints, spokePool, confirmations, tokens: listedTokens(chain) }] as const]
  })
  return destinations.length === 0 ? null : createAcrossFulfilmentSource({ chains: new Map(destinations), clock })
}
