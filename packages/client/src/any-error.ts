/** The union of all errors, for a `switch` over `code`. @module */
import type {
  AbortedError,
  AmbiguousPaymentError,
  ClientErrorCode,
  InvalidRequestError,
  InvalidResponseError,
  NetworkError,
  PaymentNotFoundError,
  RateLimitedError,
  ServiceUnavailableError,
  TimeoutError,
  UnauthorizedError,
} from './errors.js'
import type {
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  InvalidShareRequestError,
  ShareTokenRejectedError,
  SharingDisabledError,
  VerificationUnavailableError,
} from './identity/share.js'
import type { InvalidLegacyRequestError, TransactionNotFoundError, VerificationFailedError } from './legacy/client.js'

/** Every error of every client of this package: a `switch` over `code` narrows it. */
export type AnyClientError =
  | AbortedError
  | AmbiguousPaymentError
  | IdentityMisconfiguredError
  | IdentityUnavailableError
  | InvalidLegacyRequestError
  | InvalidRequestError
  | InvalidResponseError
  | InvalidShareRequestError
  | NetworkError
  | PaymentNotFoundError
  | RateLimitedError
  | ServiceUnavailableError
  | ShareTokenRejectedError
  | SharingDisabledError
  | TimeoutError
  | TransactionNotFoundError
  | UnauthorizedError
  | VerificationFailedError
  | VerificationUnavailableError

const nameByCode: Readonly<Record<ClientErrorCode, string>> = {
  ERR_UNAUTHORIZED: 'UnauthorizedError',
  ERR_REQUEST_INVALID: 'InvalidRequestError',
  ERR_PAYMENT_NOT_FOUND: 'PaymentNotFoundError',
  ERR_PAYMENT_AMBIGUOUS: 'AmbiguousPaymentError',
  ERR_SHARE_REQUEST_INVALID: 'InvalidShareRequestError',
  ERR_SHARING_DISABLED: 'SharingDisabledError',
  ERR_VERIFICATION_UNAVAILABLE: 'VerificationUnavailableError',
  ERR_SHARE_TOKEN_REJECTED: 'ShareTokenRejectedError',
  ERR_IDENTITY_UNAVAILABLE: 'IdentityUnavailableError',
  ERR_IDENTITY_MISCONFIGURED: 'IdentityMisconfiguredError',
  ERR_LEGACY_REQUEST_INVALID: 'InvalidLegacyRequestError',
  ERR_TRANSACTION_NOT_FOUND: 'TransactionNotFoundError',
  ERR_VERIFICATION_FAILED: 'VerificationFailedError',
  ERR_RATE_LIMITED: 'RateLimitedError',
  ERR_SERVICE_UNAVAILABLE: 'ServiceUnavailableError',
  ERR_NETWORK: 'NetworkError',
  ERR_TIMEOUT: 'TimeoutError',
  ERR_ABORTED: 'AbortedError',
  ERR_RESPONSE_INVALID: 'InvalidResponseError',
}

/**
 * Recognizes an error of this package's clients by `code` and `name`. This works even when two copies of the package
 * are installed.
 * @example const isWorthRetrying = isClientError(error) && error.retryable
 */
export function isClientError(error: unknown): error is AnyClientError {
  // Not `instanceof`: test runners create errors in another realm.
  if (Object.prototype.toString.call(error) !== '[object Error]') return false
  const { code, name } = error as { code?: unknown; name: string }
  return typeof code === 'string' && Object.hasOwn(nameByCode, code) && nameByCode[code as ClientErrorCode] === name
}
