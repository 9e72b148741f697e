export {
  type AcrossDestination,
  type AcrossFulfilmentSource,
  type AcrossFulfilmentSourceOptions,
  acrossFulfilmentSourceDefaults,
  createAcrossFulfilmentSource,
} from '../across-fulfilment-source.js'
export { knownSpokePools } from '../bridge/known-spoke-pools.js'
export { type ChainReceiptSourceOptions, createChainReceiptSource } from '../chain-receipt-source.js'
export type { EndpointAddress } from '../endpoints/create-endpoints.js'
export { createEvmChain, type EvmChain } from '../evm-chain.js'
export { type EvmChainOptions, evmChainDefaults } from '../evm-chain-options.js'
export { encodeIntegrationSuffix, readIntegrationSuffix } from '../integration-suffix.js'
export { type KnownPriceFeed, knownPriceFeeds } from '../known-price-feeds.js'
export { chainsWithRouters, type KnownRouter, knownRouters } from '../known-routers.js'
export { type KnownToken, knownTokens } from '../known-tokens.js'
export { nativeToken, nativeTokenAddress } from '../native-token.js'
export type { QuarantinedLog } from '../range-reader.js'
export type {
  CalledFeed,
  ConversionStep,
  DecodedConversion,
  DecodedPayment,
  MalformedLog,
  RouterCall,
  RouterDecoder,
  RouterLog,
} from '../router-decoder.js'
export { paymentTopic, yodlDecoder, yodlTopic } from '../yodl-decoder.js'
