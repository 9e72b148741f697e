export { type MintShareTokenOptions, mintShareToken, type ProviderConnection, signRequest } from '../connection.js'
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
