export {
  type AcrossFulfilmentSource,
  type AcrossFulfilmentSourceOptions,
  createAcrossFulfilmentSource,
} from '../bridge/across-fulfilment-source.js'
export { knownSpokePools } from '../bridge/spoke-pools.js'
export { encodeIntegrationSuffix, parseIntegrationSuffix } from '../decode/integrations.js'
export { type KnownRouter, knownRouters } from '../decode/known-routers.js'
export { type DecodedPayment, getNativeToken, type RouterDecoder, type RouterLog } from '../decode/router-decoder.js'
export { yodlDecoder } from '../decode/router-events.js'
export { createEvmChain, type EvmChain, type EvmChainOptions } from '../evm-chain.js'
export { type KnownPriceFeed, type KnownToken, knownPriceFeeds, knownTokens } from '../prices/pricing.js'
export { type ChainReceiptSourceOptions, createChainReceiptSource } from '../read/chain-receipt-source.js'
export type { QuarantinedLog } from '../read/range-reader.js'
