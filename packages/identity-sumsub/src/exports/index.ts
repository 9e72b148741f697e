export { type MintOptions, mintShareToken, type ProviderConnection, signRequest } from '../connection.js'
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
