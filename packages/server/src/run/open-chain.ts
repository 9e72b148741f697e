/** Opens the configured chains, and the fulfilments of payments between them. @module */
import type { AcrossFulfilmentSource, EvmChain, QuarantinedLog } from '@payment-integration/chain-evm'
import { loadPackage } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'
import { type ChainConfig, ConfigError } from '../config/config.js'
import { mergeKnown } from '../config/listed-prices.js'

/** Loads the package that reads chains. */
export function loadChainEvm() {
  const name = '@payment-integration/chain-evm'
  return loadPackage(name, 'PI_RPC_URL_<chainId>', () => import('@payment-integration/chain-evm'))
}

/**
 * Opens a chain on its endpoints; it sends nothing before its first call.
 * @param onQuarantine - Receives each skipped log, again at every read of its range.
 * @throws ConfigError `ERR_CONFIG` when no router is configured and none of the chain is known.
 * @throws TypeError or RangeError when a configuration that `readConfig` did not make contradicts itself.
 */
export async function openChain(config: ChainConfig, onQuarantine?: (log: QuarantinedLog) => void): Promise<EvmChain> {
  const evm = await loadChainEvm()
  const { chainId, endpoints, spokePools, proof, rawReceipts, maxRange } = config
  const routers = config.routers ?? evm.knownRouters(chainId)
  if (config.routers === null && routers.length === 0)
    throw new ConfigError([
      `PI_ROUTERS_${chainId} is not set, and no router of chain ${chainId} is known; expected 0x<address>@<version>, comma-separated.`,
    ])
  return evm.createEvmChain({
    chainId,
    endpoints,
    routers,
    tokens: mergeKnown(evm.knownTokens(chainId), config.tokens),
    priceFeeds: mergeKnown(evm.knownPriceFeeds(chainId), config.priceFeeds),
    ...(spokePools === null ? {} : { spokePools }),
    ...(proof === null ? {} : { proof }),
    rawReceipts,
    ...(maxRange === null ? {} : { maxRange }),
    onQuarantine,
  })
}

/**
 * The source of fulfilments over the chains with a known bridge and finality; null when there are none. It sends
 * nothing before its first call. Source: docs/decisions/cross-chain.md.
 */
export async function openFulfilments(
  chains: readonly ChainConfig[],
  clock: Clock,
): Promise<AcrossFulfilmentSource | null> {
  if (chains.length === 0) return null
  const evm = await loadChainEvm()
  const destinations = chains.flatMap(({ chainId, endpoints, confirmations, ...chain }) => {
    const [spokePool] = chain.spokePools ?? evm.knownSpokePools(chainId)
    if (confirmations === null || spokePool === undefined) return []
    const tokens = mergeKnown(evm.knownTokens(chainId), chain.tokens)
    return [[chainId, { endpoints, spokePool, confirmations, tokens }] as const]
  })
  return destinations.length === 0 ? null : evm.createAcrossFulfilmentSource({ chains: new Map(destinations), clock })
}
