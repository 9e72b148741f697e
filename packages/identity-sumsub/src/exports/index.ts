export { type MintOptions, mintShareToken, type ProviderConnection, signRequest } from '../connection.js'
export {
  ProviderAnswerError,
  ProviderError,
  type ProviderErrorCode,
  ProviderSetupError,
  ProviderThrottledError,
  ProviderUnavailableError,
  RequestLateError,
  TokenRejectedError,
  WebhookRejectedError,
} from '../errors.js'
