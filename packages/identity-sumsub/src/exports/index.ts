export {
  LateRequestError,
  ProviderAnswerError,
  ProviderError,
  type ProviderErrorCode,
  ProviderSetupError,
  ProviderThrottledError,
  ProviderUnavailableError,
  TokenRejectedError,
  WebhookRejectedError,
} from '../errors.js'
export { type MintShareTokenOptions, mintShareToken } from '../mint-share-token.js'
export { computeRequestSignature, type ProviderConnection } from '../signed-calls.js'
