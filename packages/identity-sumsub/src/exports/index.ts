export { type ProviderConnection, signRequest } from '../connection.js'
export {
  ProviderAnswerError,
  ProviderError,
  ProviderSetupError,
  ProviderThrottledError,
  ProviderUnavailableError,
  RequestLateError,
  TokenRejectedError,
  WebhookRefusedError,
} from '../errors.js'
export { type MintOptions, mintShareToken } from '../mint-share-token.js'
