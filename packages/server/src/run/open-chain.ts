/** Opens a configured chain. @module */
import { createEvmChain, type EvmChain, type QuarantinedLog } from '@payment-integration/chain-evm'
import type { ChainConfig } from '../config/config.js'
import { listedPriceFeeds, listedTokens } from '../config/listed-prices.js'

/**
 * Opens a chain on its endpoints; it sends nothing before its first call.
 * @param onQuarantine - Receives each skipped log, again at every read of its range.
 * @throws TypeError or RangeError when a configuration that `readConfig` did not make contradicts itself.
 */
export function openChain(config: ChainConfig, onQuarantine?: (log: QuarantinedLog) => void): EvmChain {
  const { chainId, endpoints, routers, spokePools, proof, rawReceipts, maxRange } = config
  return createEvmChain({
    chainId,
    endpoints,
    routers,
    tokens: listedTokens(config),
    priceFeeds: listedPriceFeeds(config),
    ...(spokePools === null ? {} : { spokePools }),
    ...(proof === null ? {} : { proof }),
    rawReceipts,
    ...(maxRange === null ? {} : { maxRange }),
    onQuarantine,
  })
}
