export { type ChainReceiptSourceOptions, createChainReceiptSource } from '../chain-receipt-source.js'
export { createEvmChain, type EvmChainOptions, evmChainDefaults } from '../evm-chain.js'
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
