export {
  type AcrossDestination,
  type AcrossFulfilmentSource,
  type AcrossFulfilmentSourceOptions,
  acrossFulfilmentSourceDefaults,
  createAcrossFulfilmentSource,
} from '../bridge/across-fulfilment-source.js'
export { knownSpokePools } from '../bridge/deposits.js'
export { encodeIntegrationSuffix, readIntegrationSuffix } from '../decode/integration-suffix.js'
export { chainsWithRouters, type KnownRouter, knownRouters } from '../decode/known-routers.js'
export type {
  CalledFeed,
  ConversionStep,
  DecodedConversion,
  DecodedPayment,
  MalformedLog,
  RouterCall,
  RouterDecoder,
  RouterLog,
} from '../decode/router-decoder.js'
export { nativeToken, nativeTokenAddress } from '../decode/router-decoder.js'
export { paymentTopic, yodlDecoder, yodlTopic } from '../decode/router-events.js'
export { createEvmChain, type EvmChain, type EvmChainOptions, evmChainDefaults } from '../evm-chain.js'
export { type KnownPriceFeed, type KnownToken, knownPriceFeeds, knownTokens } from '../prices/price-lists.js'
export { type ChainReceiptSourceOptions, createChainReceiptSource } from '../read/chain-receipt-source.js'
export type { QuarantinedLog } from '../read/range-reader.js'
export type { NodeAddress } from '../rpc/create-nodes.js'
